/** The run's result in numbers: held-out reward and each watched reward, before training and now. Pure. */

import type { RunSpec } from "../../api/schema.ts";
import { words } from "../../base/format.ts";
import { watchedRewards, watchedVerdicts } from "../../base/rewards.ts";
import type { MetricStore } from "../../live/metric_store.ts";

export interface Figure {
  readonly label: string;
  readonly help: string;
  readonly before: number | undefined;
  readonly after: number | undefined;
  /** Whether the values are shares of samples that are right. */
  readonly asShare: boolean;
  /** Samples of the newest batch without this score. */
  readonly numMissing: number;
}

export function figuresOf(metrics: MetricStore, spec: Pick<RunSpec, "rewards">): Figure[] {
  const verdicts = watchedVerdicts(spec);
  const reward: Figure = {
    label: "Held-out reward",
    help: "Weighted reward on seeds the run never trains on.",
    asShare: false,
    numMissing: 0,
    before: metrics.first("eval/reward"),
    after: metrics.last("eval/reward"),
  };
  const watched = watchedRewards(spec).map(
    (name): Figure => ({
      label: verdicts.includes(name) ? "Judged right" : words(name),
      help: `${name}: measured on held-out seeds, never trained on.`,
      before: metrics.first(`eval/part/${name}`),
      after: metrics.last(`eval/part/${name}`),
      asShare: verdicts.includes(name),
      numMissing: missingNow(metrics, name),
    }),
  );
  return [reward, ...watched];
}

/** A curve of missing scores has points only where some are missing. */
function missingNow(metrics: MetricStore, name: string): number {
  const curve = metrics.curve(`reward/missing/${name}`);
  const newest = metrics.curve("reward/mean")?.batch.at(-1);
  return curve !== undefined && curve.batch.at(-1) === newest ? (curve.value.at(-1) ?? 0) : 0;
}
