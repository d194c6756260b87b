/** The predicted throughput of each mode on the same lanes, the chosen one marked. */

import type { Plan } from "../api/schema.ts";
import { number, percent } from "../base/format.ts";
import { modeLabel, modesInOrder, splitInWords } from "./plan_words.ts";

export function ModeTable({ plan }: { plan: Plan }) {
  const modes = modesInOrder(plan);
  return (
    <div class="table-wrap">
      <table class="class-table mode-table">
        <thead>
          <tr>
            <th>Mode</th>
            <th class="right">Rollout + trainer</th>
            <th class="right">Samples/s</th>
            <th>Of the bound</th>
          </tr>
        </thead>
        <tbody>
          {modes.map(([mode, choice]) => (
            <tr key={mode} class={mode === plan.mode ? "chosen" : ""}>
              <td>{modeLabel(mode)}</td>
              <td class="right num">{splitInWords(choice)}</td>
              <td class="right num nowrap">
                {choice.is_simulated ? "" : "≈ "}
                {number(choice.samples_per_second)}
              </td>
              <td>
                <span class="share-bar">
                  <i style={{ width: percent(choice.bound_share).replace(" ", "") }} />
                </span>
                <span class="num small muted">{percent(choice.bound_share)}</span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {modes.some(([, choice]) => !choice.is_simulated) && <p class="tiny muted">≈ estimated, not simulated</p>}
    </div>
  );
}
