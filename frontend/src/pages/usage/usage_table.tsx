/** The sums of the window, a row for each project, user, card, …, with a bar of what is chosen. */

import type { UsageBy } from "../../api/endpoints.ts";
import type { UsageRow } from "../../api/schema.ts";
import { number, percent } from "../../base/format.ts";
import { type Measure, measured, money, USAGE_BY } from "./usage_words.ts";

interface Props {
  readonly rows: readonly UsageRow[];
  readonly by: UsageBy;
  readonly measure: Measure;
}

export function UsageTable({ rows, by, measure }: Props) {
  const all = rows.reduce((sum, row) => sum + measured(row, measure), 0);
  const largest = Math.max(...rows.map((row) => measured(row, measure)));
  const ordered =
    by === "day" ? rows : [...rows].sort((one, other) => measured(other, measure) - measured(one, measure));
  const hours = (value: number) => number(Math.round(value * 100) / 100);
  return (
    <section class="card flush" aria-label="Usage">
      <div class="table-wrap">
        <table class="usage-table">
          <thead>
            <tr>
              <th>{USAGE_BY[by]}</th>
              <th class="right">GPU hours</th>
              <th class="right">Lane hours</th>
              <th class="right">Cost</th>
              <th class="right">Runs</th>
              <th>Share</th>
            </tr>
          </thead>
          <tbody>
            {ordered.map((row) => {
              const value = measured(row, measure);
              return (
                <tr key={`${row.key} ${row.name}`}>
                  <th scope="row">{row.name}</th>
                  <td class="right num">{hours(row.gpu_hours)}</td>
                  <td class="right num">{hours(row.lane_hours)}</td>
                  <td class={`right num ${row.cost === null ? "faint" : ""}`}>
                    {money(row.cost === null ? null : Number(row.cost))}
                  </td>
                  <td class="right num">{row.num_runs}</td>
                  <td>
                    <span class="meter-row">
                      <span class="progress" aria-hidden="true">
                        <i style={{ width: `${largest > 0 ? (value / largest) * 100 : 0}%` }} />
                      </span>
                      <span class="num">{percent(all > 0 ? value / all : 0, 1)}</span>
                    </span>
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </section>
  );
}
