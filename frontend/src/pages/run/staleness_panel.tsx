/** The staleness of each batch's samples when they were trained on: one column a batch, one colour a version behind. */

import { api } from "../../api/endpoints.ts";
import type { StalenessOfBatch } from "../../api/schema.ts";
import { percent } from "../../base/format.ts";
import { useLiveResource } from "../../ui/resource.ts";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { Terms } from "../../ui/term.tsx";
import type { RunProps } from "./context.ts";

/** The newest batches that are drawn; more columns would be thinner than a pixel. */
const MAX_COLUMNS = 160;

const COLUMN_PIXELS = 28;

const COLOURS = ["--series-1", "--series-2", "--series-3"];

const colourOf = (staleness: number) => COLOURS[Math.min(staleness, COLOURS.length - 1)] ?? "--ink-3";

export function StalenessPanel({ store, run }: RunProps) {
  const staleness = useLiveResource(() => api.staleness(run.id), [run.id], store.timeline.version);
  const batches = staleness.value ?? [];
  const levels = [...new Set(batches.flatMap((one) => Object.keys(one.counts).map(Number)))].sort((a, b) => a - b);
  return (
    <section class="card" aria-label="Staleness by batch">
      <div class="card-head">
        <h2>
          <Terms>Staleness by batch</Terms>
        </h2>
        <ul class="span-legend">
          {levels.map((level) => (
            <li key={level}>
              <i class="swatch" style={{ "--swatch": `var(${colourOf(level)})` }} />
              {level === 0 ? "this version" : `${level} ${level === 1 ? "version" : "versions"} behind`}
              <b class="num">{percent(shareOf(batches, level), 1)}</b>
            </li>
          ))}
        </ul>
      </div>
      {staleness.error !== null && <Failed message={staleness.error} onRetry={staleness.reload} />}
      {staleness.value === undefined && staleness.error === null && <Loading />}
      {staleness.value && batches.length === 0 && (
        <Empty title="No batch trained yet">Each batch reports the staleness of its samples when it ends.</Empty>
      )}
      {batches.length > 0 && <Columns batches={batches.slice(-MAX_COLUMNS)} levels={levels} />}
    </section>
  );
}

function shareOf(batches: readonly StalenessOfBatch[], level: number): number {
  const all = batches.flatMap((one) => Object.values(one.counts)).reduce((sum, count) => sum + count, 0);
  return batches.reduce((sum, one) => sum + (one.counts[level] ?? 0), 0) / all;
}

function Columns({ batches, levels }: { batches: readonly StalenessOfBatch[]; levels: readonly number[] }) {
  const text = ({ batch, counts }: StalenessOfBatch) =>
    `Batch ${batch}: ${levels
      .filter((level) => counts[level])
      .map((level) => `${counts[level]} samples of staleness ${level}`)
      .join(", ")}`;
  return (
    <div style={{ maxWidth: `${batches.length * COLUMN_PIXELS}px` }}>
      <div class="columns" role="img" aria-label={`Staleness of ${batches.length} batches`}>
        {batches.map((one) => (
          <span key={one.batch} title={text(one)}>
            {levels.map((level) => (
              <i key={level} style={{ "--swatch": `var(${colourOf(level)})`, flexGrow: one.counts[level] ?? 0 }} />
            ))}
          </span>
        ))}
      </div>
      <div class="row-between tiny faint num">
        <span>batch {batches[0]?.batch}</span>
        {batches.length > 4 && <span>{batches.at(-1)?.batch}</span>}
      </div>
    </div>
  );
}
