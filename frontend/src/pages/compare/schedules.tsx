/** What the runs' lanes did in the same batches, on one axis of seconds, and on what they waited. */

import { useMemo, useState } from "preact/hooks";
import { api } from "../../api/endpoints.ts";
import type { Bubbles, Timeline } from "../../api/schema.ts";
import { duration, percent } from "../../base/format.ts";
import { causeLabel, classOf, parseClass } from "../../timeline/classes.ts";
import { busyShare, isIdle, unpaused } from "../../timeline/shares.ts";
import type { Extent } from "../../timeline/view.ts";
import { Segmented } from "../../ui/controls.tsx";
import { useResource } from "../../ui/resource.ts";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { Term } from "../../ui/term.tsx";
import type { ComparedRun } from "./compared_run.ts";
import { RunLabel } from "./run_label.tsx";
import { batchBounds, laneRows, pathsByKind, windowOf } from "./schedule_window.ts";

const COUNTS = [
  { value: "1", label: "1 batch" },
  { value: "2", label: "2" },
  { value: "4", label: "4" },
] as const;
/** The most spans of a run that are read; of more, neighbouring short ones come merged. */
const MAX_SPANS = 1500;
/** CSS pixels of a lane's row, and of all rows of a run at most. */
const [ROW_HEIGHT, MAX_HEIGHT] = [12, 160];

interface Schedule {
  readonly compared: ComparedRun;
  readonly window: Extent;
  readonly timeline: Timeline;
  readonly bubbles: Bubbles;
}

/** Two requests for each run that has come so far. */
async function readSchedules(runs: readonly ComparedRun[], first: number, count: number): Promise<Schedule[]> {
  const read = runs.map(async (compared): Promise<Schedule[]> => {
    const window = windowOf(compared.curves.get("speed/batch_seconds"), first, count);
    if (!window) return [];
    const [timeline, bubbles] = await Promise.all([
      api.timeline(compared.run.id, { ...window, limit: MAX_SPANS }),
      api.bubbles(compared.run.id, window.from, window.to),
    ]);
    return [{ compared, window, timeline, bubbles }];
  });
  return (await Promise.all(read)).flat();
}

export function Schedules({ runs }: { runs: readonly ComparedRun[] }) {
  const [count, setCount] = useState<(typeof COUNTS)[number]["value"]>("2");
  const [chosen, setChosen] = useState<number | null>(null);
  const bounds = batchBounds(runs.map(({ curves }) => curves.get("speed/batch_seconds")));
  const ids = runs.map(({ run }) => run.id).join();
  // By default the middle of what all runs share: begin and end are no bottleneck. It stays as the runs go on.
  const middle = bounds && Math.max(bounds.first, Math.floor(sharedLast(runs) / 2));
  const usual = useMemo(() => middle ?? 0, [ids, bounds === null]);
  const first = chosen ?? usual;
  const schedules = useResource(() => readSchedules(runs, first, Number(count)), [ids, first, count]);
  const found = schedules.value ?? [];
  const seconds = Math.max(0, ...found.map(({ window }) => window.to - window.from));
  return (
    <section class="card" aria-label="Schedules">
      <div class="card-head">
        <h2>Schedules</h2>
        {bounds && (
          <>
            <label class="small compare-against">
              From batch
              <input
                type="number"
                class="compare-batch"
                min={bounds.first}
                max={bounds.last}
                value={first}
                onChange={(event) => setChosen(clamped(Number(event.currentTarget.value), bounds))}
              />
            </label>
            <Segmented label="How many batches" choices={COUNTS} value={count} onChange={setCount} />
          </>
        )}
      </div>
      {schedules.error !== null && <Failed message={schedules.error} onRetry={schedules.reload} />}
      {bounds === null && <Empty title="None of these runs has finished a batch yet" />}
      {bounds && !schedules.value && schedules.error === null && <Loading label="Loading the schedules" />}
      {found.map((schedule) => (
        <Mini key={schedule.compared.run.id} schedule={schedule} seconds={seconds} />
      ))}
      {found.length > 0 && <Kinds schedules={found} />}
      {found.length > 0 && <IdleShares schedules={found} />}
    </section>
  );
}

function sharedLast(runs: readonly ComparedRun[]): number {
  return Math.min(...runs.map(({ curves }) => curves.get("speed/batch_seconds")?.batch.at(-1) ?? 0));
}

function clamped(batch: number, { first, last }: { first: number; last: number }): number {
  return Math.min(last, Math.max(first, Math.round(batch) || first));
}

/** One run's lanes, as long as it took: shorter is faster. */
function Mini({ schedule: { compared, window, timeline }, seconds }: { schedule: Schedule; seconds: number }) {
  const rows = laneRows(timeline.spans);
  const height = Math.min(MAX_HEIGHT, ROW_HEIGHT * rows.length);
  const length = window.to - window.from;
  const { run } = compared;
  return (
    <figure class="compare-schedule">
      <figcaption class="small">
        <RunLabel {...compared} />
        <span class="tiny muted num">
          {duration(length)}, {rows.length} lanes
        </span>
      </figcaption>
      <svg
        viewBox={`0 0 ${seconds} ${Math.max(1, rows.length)}`}
        preserveAspectRatio="none"
        style={{ height: `${Math.max(ROW_HEIGHT, height)}px` }}
        role="img"
        aria-label={`${run.name}: ${rows.length} lanes in ${duration(length)}`}
      >
        {[...pathsByKind(rows, window)].map(([kind, path]) => (
          <path key={kind} d={path} fill={`var(${classOf(kind).colour})`} />
        ))}
        <rect class="compare-end" x={length} y={0} width={seconds / 400} height={rows.length} />
      </svg>
    </figure>
  );
}

function Kinds({ schedules }: { schedules: readonly Schedule[] }) {
  const kinds = new Set(schedules.flatMap(({ timeline }) => timeline.spans.map(({ kind }) => kind)));
  return (
    <ul class="legend compare-kinds" aria-label="Colours">
      {[...kinds].map((kind) => (
        <li key={kind}>
          <i style={{ background: `var(${classOf(kind).colour})` }} />
          {classOf(kind).label}
        </li>
      ))}
    </ul>
  );
}

/** Shares of the lane time in the window that was not paused; a run's shares of idle time add up to what it was not
 * busy, but for what no lane reported. */
function IdleShares({ schedules }: { schedules: readonly Schedule[] }) {
  const names = [...new Set(schedules.flatMap(({ bubbles }) => Object.keys(bubbles.by_class).filter(isIdle)))];
  const share = ({ bubbles }: Schedule, name: string) =>
    (bubbles.by_class[name] ?? 0) / (unpaused(bubbles.by_class) || 1);
  const most = (name: string) => Math.max(...schedules.map((schedule) => share(schedule, name)));
  return (
    <div class="table-wrap" tabIndex={0} role="region" aria-label="Idle time of each run">
      <table class="compare-settings">
        <thead>
          <tr>
            <th title="Share of the lane time in these batches that was not paused">Lane time</th>
            {schedules.map(({ compared: { run } }) => (
              <th key={run.id}>
                <span class="truncate">{run.name}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <tr>
            <td>
              <Term word="busy share">Busy</Term>
            </td>
            {schedules.map(({ compared, bubbles }) => (
              <td key={compared.run.id} class="num">
                <b>{percent(busyShare(bubbles.by_class), 1)}</b>
              </td>
            ))}
          </tr>
          {names
            .sort((a, b) => most(b) - most(a))
            .map((name) => (
              <tr key={name}>
                <td>Idle: {causeLabel(parseClass(name).cause ?? "")}</td>
                {schedules.map((schedule) => (
                  <td key={schedule.compared.run.id} class="num">
                    {percent(share(schedule, name), 1)}
                  </td>
                ))}
              </tr>
            ))}
        </tbody>
      </table>
    </div>
  );
}
