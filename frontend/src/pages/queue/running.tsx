/** Who holds lanes of the pool, and until when. */

import type { RunningInPool } from "../../api/schema.ts";
import { seconds } from "../../base/clock.ts";
import { Progress, StatePill } from "../../ui/controls.tsx";
import { Empty } from "../../ui/states.tsx";
import { BASIS_WORDS, bandText, lanesText, overtakingText } from "./queue_words.ts";

export function RunningRuns({ rows }: { rows: readonly RunningInPool[] }) {
  return (
    <section class="card flush" aria-label="Runs that hold lanes">
      <div class="card-head">
        <h2>
          Hold lanes <span class="count">{rows.length}</span>
        </h2>
        <span class="tiny faint">the first to end first</span>
      </div>
      {rows.length === 0 ? (
        <Empty title="No run holds lanes" />
      ) : (
        <div class="table-wrap">
          <table class="queue-table running">
            <thead>
              <tr>
                <th>Run</th>
                <th>State</th>
                <th>Lanes</th>
                <th>Progress</th>
                <th>Expected end</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row, index) => (
                <Row key={row.run_id ?? `other-${index}`} row={row} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function Row({ row }: { row: RunningInPool }) {
  const band = bandText(row.ends, seconds.value);
  const overtaking = overtakingText(row.num_overtaken);
  return (
    <tr class="link">
      <td class="queue-run">
        {row.run_id === null ? (
          <span class="muted">{row.run_name}</span>
        ) : (
          <a class="run-name" href={`/runs/${row.run_id}`}>
            {row.run_name}
          </a>
        )}
        <div class="tiny faint">{[row.project_name, overtaking].filter(Boolean).join(" · ")}</div>
      </td>
      <td>
        <StatePill state={row.state} />
      </td>
      <td class="nowrap">{lanesText(row.lanes)}</td>
      <td class="progress-cell">
        {row.num_batches !== null && row.num_batches_done !== null && (
          <div class="stack-s" style={{ gap: "4px", minWidth: "110px" }}>
            <Progress done={row.num_batches_done} total={row.num_batches} />
            <span class="tiny faint num">
              {row.num_batches_done} / {row.num_batches} batches
            </span>
          </div>
        )}
      </td>
      <td>
        {band === null ? (
          <span class="faint">unknown</span>
        ) : (
          <>
            <b class="nowrap">{band.likely}</b>
            <div class="tiny faint nowrap">
              {band.range}, {BASIS_WORDS[row.basis]}
            </div>
          </>
        )}
      </td>
    </tr>
  );
}
