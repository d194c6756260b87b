/** All plans that a run has worked by: from which batch, why, what each promised, and what was measured under it. */

import type { GradedPlanStep } from "../../api/schema.ts";
import { duration, percent } from "../../base/format.ts";
import { splitInWords } from "../../plan/plan_words.ts";

export function PlanHistory({ steps }: { steps: readonly GradedPlanStep[] }) {
  if (steps.length < 2) return null;
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
        {steps.map((step) => (
          <tbody key={step.revision}>
            <tr>
              <td class="num">{step.since_batch + 1}</td>
              <td class="right num">{splitInWords(step)}</td>
              <td class="right num nowrap">{duration(step.batch_seconds)}</td>
              <td class="right num nowrap">{gradeInWords(step)}</td>
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
function changeText(promise: GradedPlanStep["promise"]): string {
  if (!promise?.move_seconds) return "";
  return `; training stood still for ${duration(promise.move_seconds)}, predicted ${duration(promise.predicted_move_seconds)}`;
}

/** What was measured under a plan, and by how much that differs from what it predicted. */
export function gradeInWords({ measured_seconds, relative_error }: GradedPlanStep): string {
  if (measured_seconds === null || relative_error === null) return "…";
  return `${duration(measured_seconds)}, ${signedPercent(relative_error)}`;
}

export const signedPercent = (share: number) => `${share < 0 ? "−" : "+"}${percent(Math.abs(share))}`;
