/** The start of a run, lane by lane, of many those together that do the same: what each does, and for how long. */

import type { StartStep } from "../../api/schema.ts";
import { seconds } from "../../base/clock.ts";
import { duration } from "../../base/format.ts";
import { DOING, elapsed, type LaneStart, STEPS, type StartRow, slowest, stagesOf, startRows } from "./start_up.ts";

/** Rows for which the charts' place has room; of more lanes than this those that do the same share one. */
const MAX_ROWS = 8;
/** A bar is this wide when nothing else is longer, so that the first seconds do not look like minutes. */
const LEAST_SECONDS = 10;

const LEGEND: readonly (readonly [StartStep, string])[] = [
  ["requested", "placing the process"],
  ["placed", "waiting for others"],
  ["loading", "loading the model"],
];

export function StartUpPanel({ starts }: { starts: readonly LaneStart[] }) {
  const now = seconds.value;
  const longest = Math.max(LEAST_SECONDS, ...starts.map((start) => elapsed(start, now)));
  const late = slowest(starts);
  const rows = startRows(starts, now, MAX_ROWS).slice(0, MAX_ROWS);
  return (
    <section class="card start-up" aria-label="Start-up">
      <div class="card-head">
        <h2>Start-up</h2>
        <ul class="start-legend tiny muted">
          {LEGEND.map(([step, label]) => (
            <li key={step}>
              <i class={step} /> {label}
            </li>
          ))}
        </ul>
      </div>
      {starts.length === 0 && <p class="small muted">The driver is starting; it will ask the cluster for the lanes.</p>}
      <ol>
        {rows.map((row) => (
          <Row
            key={row.lanes[0]}
            row={row}
            now={now}
            longest={longest}
            isLate={late !== undefined && row.lanes.includes(late.lane)}
          />
        ))}
      </ol>
      {starts.length > rows.length && <p class="tiny muted">{countText(starts)}</p>}
    </section>
  );
}

interface RowProps {
  readonly row: StartRow;
  readonly now: number;
  readonly longest: number;
  /** Whether the run waits most for a lane of it. */
  readonly isLate: boolean;
}

function Row({ row, now, longest, isLate }: RowProps) {
  const { label, lanes, longest: start } = row;
  const { step } = start;
  return (
    <li class={isLate ? "late" : ""}>
      <span class={`start-lane ${lanes.length === 1 ? "mono" : ""}`} title={lanes.join(", ")}>
        {label}
      </span>
      <span class="start-bar" aria-hidden="true">
        {stagesOf(start, now).map((stage) => (
          <i key={stage.step} class={stage.step} style={{ width: `${(100 * stage.seconds) / longest}%` }} />
        ))}
      </span>
      <span class={`start-step ${step}`}>{DOING[step]}</span>
      <span class="num muted">{duration(Math.floor(elapsed(start, now)))}</span>
    </li>
  );
}

/** "120 lanes: 4 loading, 116 ready". */
function countText(starts: readonly LaneStart[]): string {
  const counts = STEPS.map((step) => [starts.filter((start) => start.step === step).length, DOING[step]] as const);
  const parts = counts.filter(([count]) => count > 0).map(([count, doing]) => `${count} ${doing}`);
  return `${starts.length} lanes: ${parts.join(", ")}`;
}
