/** What a unit of work takes on each lane, as the run measured it: which lane, and which trainer rank, is slower than
 * its peers. */

import { api } from "../../api/endpoints.ts";
import type { LaneSeconds, WorkSeconds } from "../../api/schema.ts";
import { number, percent } from "../../base/format.ts";
import { MANY_LANES } from "../../timeline/bubble_bars.tsx";
import { useLiveResource } from "../../ui/resource.ts";
import { Failed } from "../../ui/states.tsx";
import type { RunProps } from "./context.ts";

const WORKS: readonly { readonly work: WorkSeconds["work"]; readonly unit: string; readonly colour: string }[] = [
  { work: "accumulate", unit: "Training a micro-batch", colour: "--span-train" },
  { work: "generate", unit: "Generating a trajectory", colour: "--span-generate" },
  { work: "score", unit: "Scoring a sample", colour: "--span-score" },
];

export function LaneSecondsPanel({ store, run }: RunProps) {
  const found = useLiveResource(() => api.laneSeconds(run.id), [run.id], store.metrics.version);
  if (found.error !== null) return <Failed message={found.error} onRetry={found.reload} />;
  if (!found.value || found.value.seconds.length === 0) return null;
  return (
    <section class="card" aria-label="Seconds by lane">
      <div class="card-head">
        <h2>Seconds by lane</h2>
        <span class="small muted">measured in {batches(found.value.num_batches)}</span>
      </div>
      <LaneSecondsTables found={found.value} />
    </section>
  );
}

export function LaneSecondsTables({ found }: { found: LaneSeconds }) {
  return (
    <div class="stack">
      {WORKS.map(({ work, unit, colour }) => {
        const rows = inOrder(found.seconds.filter((row) => row.work === work));
        return rows.length > 0 && <OfWork key={work} unit={unit} colour={colour} rows={rows} />;
      })}
    </div>
  );
}

function OfWork({ unit, colour, rows }: { unit: string; colour: string; rows: readonly WorkSeconds[] }) {
  const longest = Math.max(...rows.map(({ seconds }) => seconds));
  return (
    <details open={rows.length <= MANY_LANES}>
      <summary class="small">
        <b>{unit}</b> <span class="muted">{spreadInWords(rows)}</span>
      </summary>
      <div class="table-wrap">
        <table class="class-table lane-seconds">
          <thead>
            <tr>
              <th>Lane</th>
              <th aria-label="Bar" />
              <th class="right">Seconds</th>
              <th class="right" title="Standard error of the mean">
                ±
              </th>
              <th class="right">Against its peers</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.lane}>
                <td class="nowrap">{row.lane === "gang" ? "all ranks, in step" : row.lane}</td>
                <td class="waterfall-bar">
                  <i style={{ "--swatch": `var(${colour})`, left: 0, width: `${(100 * row.seconds) / longest}%` }} />
                </td>
                <td class="right num nowrap">{number(row.seconds)} s</td>
                <td class="right num nowrap muted">
                  {row.relative_error === null ? "–" : percent(row.relative_error, 1)}
                </td>
                <td class="right num nowrap">
                  <Compared row={row} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

function Compared({ row }: { row: WorkSeconds }) {
  if (row.times_peers === null) return <span class="muted">–</span>;
  return (
    <>
      {row.is_slow && <span class="tag slow">slower than its peers</span>} {row.times_peers.toFixed(2)} ×{" "}
      <span class="muted">the median of {row.num_peers}</span>
    </>
  );
}

/** The slow lanes by name, or how far apart the fastest and the slowest are. */
export function spreadInWords(rows: readonly WorkSeconds[]): string {
  const slow = rows.filter(({ is_slow }) => is_slow);
  if (slow.length > 0) {
    const lanes = slow.map(({ lane, times_peers }) => `${lane} takes ${number(times_peers)} × the time of its peers`);
    return lanes.join(", ");
  }
  const all = rows.map(({ seconds }) => seconds);
  const [least, most] = [Math.min(...all), Math.max(...all)];
  return rows.length === 1 ? `${number(most)} s` : `${rows.length} lanes, ${number(least)} to ${number(most)} s`;
}

/** `trainer-2` before `trainer-10`. */
const inOrder = (rows: readonly WorkSeconds[]) =>
  [...rows].sort((one, other) => one.lane.localeCompare(other.lane, "en", { numeric: true }));

const batches = (count: number) => (count === 1 ? "one batch" : `${count} batches`);
