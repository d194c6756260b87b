/** What trainer lanes in step (ZeRO 2 and 3) lose to passes of weight 0, over the batches so far. */

import type { RunSpec } from "../../api/schema.ts";
import { duration, percent } from "../../base/format.ts";
import type { MetricStore } from "../../live/metric_store.ts";

export function StepLoss({ metrics }: { metrics: MetricStore }) {
  void metrics.version.value;
  const lost = mean(metrics.curve("speed/padding_seconds")?.value);
  const trained = mean(metrics.curve("speed/train_seconds")?.value);
  if (lost === null || trained === null || trained === 0) return null;
  return <p class="small">{lossInWords(lost, trained)}</p>;
}

/** Whether each backward pass reduces gradients, so that all trainer lanes must make equally many. */
export const isInStep = ({ deepspeed }: Pick<RunSpec, "deepspeed">) => /^zero[23]/.test(deepspeed.config);

/** Both in lane-seconds a batch. */
export function lossInWords(lost: number, trained: number): string {
  const why = "Trainer lanes work in step, so each makes as many passes as the one with the most micro-batches";
  if (lost === 0) return `${why}. None was without work so far: nothing is lost to passes of weight 0.`;
  return `${why}. Passes of weight 0 took ${duration(lost)} of ${duration(trained)} of training lane time a batch, ${percent(lost / trained, 1)}.`;
}

function mean(values: readonly number[] | undefined): number | null {
  return values?.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null;
}
