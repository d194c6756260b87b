/** All plans that a run has worked by: from which batch, why, what each promised, and what was measured under it. */

import type { PlanStep } from "../../api/schema.ts";
import { duration, percent } from "../../base/format.ts";
import type { Curve } from "../../live/growing_curve.ts";
import type { MetricStore } from "../../live/metric_store.ts";
import { splitInWords } from "../../plan/plan_words.ts";

export function PlanHistory({ steps, metrics }: { steps: readonly PlanStep[]; metrics: MetricStore }) {
  void metrics.version.value;
  if (steps.length < 2) return null;
  const seconds = metrics.curve("speed/batch_seconds");
  return (
    <div class="table-wrap">
      <table class="class-table plan-history">
        <caption class="small strong">Plans of this run</caption>
        <thead>
          <tr>
            <th>From batch</th>
            <th class="right" title="Rollout + trainer lanes">
              Lanes
            </th>
            <th class="right">Predicted</th>
            <th class="right">Measured</th>
          </tr>
        </thead>
        {steps.map((step, index) => (
          <tbody key={step.revision}>
            <tr>
              <td class="num">{step.since_batch + 1}</td>
              <td class="right num">{splitInWords(step)}</td>
              <td class="right num nowrap">{duration(step.batch_seconds)}</td>
              <td class="right num nowrap">{graded(step, measuredSeconds(seconds, step, steps[index + 1]))}</td>
            </tr>
            <tr>
              <td colSpan={4} class="small muted">
                {step.reason}
                {changeText(step.promise)}
              </td>
            </tr>
          </tbody>
        ))}
      </table>
    </div>
  );
}

/** How long training stood still for the change, beside what was predicted; nothing where it did not. */
function changeText(promise: PlanStep["promise"]): string {
  if (!promise?.move_seconds) return "";
  return `; training stood still for ${duration(promise.move_seconds)}, predicted ${duration(promise.predicted_move_seconds)}`;
}

function graded(step: PlanStep, measured: number | null): string {
  if (measured === null) return "…";
  const off = measured / step.batch_seconds - 1;
  return `${duration(measured)}, ${off < 0 ? "−" : "+"}${percent(Math.abs(off))}`;
}

/** Mean seconds of the batches under a plan, the first of them left out, which fills the pipeline; null before any. */
export function measuredSeconds(
  curve: Curve | undefined,
  step: Pick<PlanStep, "since_batch">,
  next: Pick<PlanStep, "since_batch"> | undefined,
): number | null {
  const values = settled(curve, step.since_batch, next?.since_batch);
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The mean rate that a plan is compared with, over its batches but the first. Times add up, rates do not: batches are
 * equally large, so the mean is the harmonic one. */
export function settledMean(curve: Curve | undefined, sinceBatch: number): number | null {
  const values = settled(curve, sinceBatch);
  return values.length === 0 ? null : values.length / values.reduce((sum, value) => sum + 1 / value, 0);
}

/** Values of the batches after number `since` + 1, up to number `until`. */
function settled(curve: Curve | undefined, since: number, until = Number.POSITIVE_INFINITY): number[] {
  if (!curve) return [];
  return curve.value.filter((_, index) => {
    const number = curve.batch[index] ?? 0;
    return number > since + 1 && number <= until;
  });
}
