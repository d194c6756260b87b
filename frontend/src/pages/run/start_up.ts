/** How far each lane is on its way to work, from the newest attempt's events. Pure. */

import type { LaneStartItem, StartStep } from "../../api/schema.ts";
import { duration } from "../../base/format.ts";
import type { PanelItem } from "../../live/item_list.ts";

export const STEPS = ["requested", "placed", "loading", "ready"] as const satisfies readonly StartStep[];

/** What a lane does from one step to the next. */
export const DOING: Readonly<Record<StartStep, string>> = {
  requested: "being placed",
  placed: "waiting to load",
  loading: "loading",
  ready: "ready",
};

export interface LaneStart {
  readonly lane: string;
  readonly step: StartStep;
  /** When each step that it has reached was reached, in Unix seconds. */
  readonly at: Readonly<Partial<Record<StartStep, number>>>;
}

/** The lanes in the order in which they were requested. */
export function laneStarts(events: readonly PanelItem[], attempt: number): readonly LaneStart[] {
  const lanes = new Map<string, LaneStart>();
  for (const item of events) {
    if (item.type !== "lane_start" || item.attempt !== attempt) continue;
    for (const lane of item.body.lanes) lanes.set(lane, stepped(lanes.get(lane), lane, item));
  }
  return [...lanes.values()];
}

/** A lane that is requested again begins anew. */
function stepped(known: LaneStart | undefined, lane: string, { at, body: { step } }: LaneStartItem): LaneStart {
  return { lane, step, at: step === "requested" ? { requested: at } : { ...known?.at, [step]: at } };
}

export interface Stage {
  readonly step: StartStep;
  readonly seconds: number;
}

/** What a lane did until now, step by step. */
export function stagesOf({ step, at }: LaneStart, now: number): readonly Stage[] {
  const reached = STEPS.filter((one) => at[one] !== undefined);
  return reached
    .map((one, index) => {
      const next = reached[index + 1];
      return { step: one, seconds: Math.max(0, (next ? (at[next] ?? now) : now) - (at[one] ?? now)) };
    })
    .filter((stage) => stage.step !== "ready" || step !== "ready");
}

/** Seconds from a lane's request to its readiness, or to now. */
export function elapsed({ at }: LaneStart, now: number): number {
  return Math.max(0, (at.ready ?? now) - (at.requested ?? now));
}

/** The lane that holds the start up: of those that are least far, the one that has been there longest. */
export function slowest(starts: readonly LaneStart[]): LaneStart | undefined {
  const rank = ({ step }: LaneStart) => STEPS.indexOf(step);
  return starts
    .filter(({ step }) => step !== "ready")
    .toSorted((a, b) => rank(a) - rank(b) || (a.at[a.step] ?? 0) - (b.at[b.step] ?? 0))[0];
}

/** Lanes of one role at one step, in a row. */
export interface StartRow {
  /** The lane's name, or how many there are of which role. */
  readonly label: string;
  readonly lanes: readonly string[];
  /** Of them the lane that has taken longest. */
  readonly longest: LaneStart;
}

/** A row for each lane; of more than `maxRows` lanes one for those of a role that do the same, the least far first. */
export function startRows(starts: readonly LaneStart[], now: number, maxRows: number): readonly StartRow[] {
  if (starts.length <= maxRows) {
    return starts.map((start) => ({ label: start.lane, lanes: [start.lane], longest: start }));
  }
  const alike = new Map<string, [LaneStart, ...LaneStart[]]>();
  for (const start of starts) {
    const key = `${roleOf(start)}:${start.step}`;
    const known = alike.get(key);
    if (known) known.push(start);
    else alike.set(key, [start]);
  }
  return [...alike.values()]
    .map((row): StartRow => {
      const [first] = row;
      const longest = row.reduce((one, other) => (elapsed(other, now) > elapsed(one, now) ? other : one));
      const label = row.length === 1 ? first.lane : `${row.length} ${roleOf(first)} lanes`;
      return { label, lanes: row.map(({ lane }) => lane), longest };
    })
    .toSorted((a, b) => STEPS.indexOf(a.longest.step) - STEPS.indexOf(b.longest.step));
}

/** Lanes are named `<role>-<index>`. */
const roleOf = ({ lane }: LaneStart) => lane.slice(0, lane.lastIndexOf("-"));

/** "2 of 3 lanes ready, trainer-0 loading for 12 s"; empty where no lane has begun, or all are ready. */
export function startText(starts: readonly LaneStart[], now: number): string {
  const late = slowest(starts);
  if (!late) return "";
  const numReady = starts.filter(({ step }) => step === "ready").length;
  const alike = starts.filter(({ step }) => step === late.step).length - 1;
  const others = alike > 0 ? ` and ${alike} more` : "";
  const since = duration(Math.floor(Math.max(0, now - (late.at[late.step] ?? now))));
  return `${numReady} of ${starts.length} lanes ready, ${late.lane}${others} ${DOING[late.step]} for ${since}`;
}
