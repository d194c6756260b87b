/** The start of a run, lane by lane: what each does, and for how long. */

import type { StartStep } from "../../api/schema.ts";
import { seconds } from "../../base/clock.ts";
import { duration } from "../../base/format.ts";
import { DOING, elapsed, type LaneStart, STEPS, slowest, stagesOf } from "./start_up.ts";

/** Lanes with a row of their own; of more the latest are shown, and the rest are counted. */
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
  const rows =
    starts.length <= MAX_ROWS
      ? starts
      : starts.toSorted((a, b) => STEPS.indexOf(a.step) - STEPS.indexOf(b.step)).slice(0, MAX_ROWS);
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
        {rows.map((start) => (
          <LaneRow key={start.lane} start={start} now={now} longest={longest} isLate={start === late} />
        ))}
      </ol>
      {starts.length > rows.length && <p class="tiny muted">{countText(starts)}</p>}
    </section>
  );
}

interface RowProps {
  readonly start: LaneStart;
  readonly now: number;
  readonly longest: number;
  /** Whether the run waits for this lane most. */
  readonly isLate: boolean;
}

function LaneRow({ start, now, longest, isLate }: RowProps) {
  const { lane, step } = start;
  return (
    <li class={isLate ? "late" : ""}>
      <span class="mono start-lane" title={lane}>
        {lane}
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
