/** A replay in sentences and rows: how far it is off, and what would change. Pure. */

import type { Replay, ReplayRequest, Run } from "../../api/schema.ts";
import { duration, percent } from "../../base/format.ts";
import { classLabel } from "../../timeline/classes.ts";

/** What the reader chose; an empty text stays as it was. */
export type Chosen = Readonly<Record<keyof ReplayRequest, string>>;

export const AS_IT_WAS: Chosen = {
  placement: "",
  gap: "",
  tsp: "",
  tag: "",
  max_staleness: "",
  fragment_size: "",
  num_rollout: "",
  num_trainer: "",
  num_reward: "",
  device: "",
};

const NUMBERS = ["max_staleness", "fragment_size", "num_rollout", "num_trainer", "num_reward"];
const FLAGS = ["gap", "tsp"];

/** The request that the choices make: only what differs from what was. */
export function requestOf(chosen: Chosen): ReplayRequest {
  const entries = Object.entries(chosen).filter(([, text]) => text !== "");
  return Object.fromEntries(entries.map(([name, text]) => [name, choiceOf(name, text)]));
}

function choiceOf(name: string, text: string): string | number | boolean {
  if (FLAGS.includes(name)) return text === "true";
  return NUMBERS.includes(name) ? Number(text) : text;
}

/** "3.1 % too fast", of replayed ÷ measured − 1. */
export function errorText(error: number): string {
  const size = percent(Math.abs(error), 1);
  if (Math.abs(error) < 0.0005) return "within 0.05 % of what was measured";
  return `${size} ${error > 0 ? "slower" : "faster"} than measured`;
}

/** The predicted change of the time of a batch: negative is faster. It is compared with the replay as it ran, so that
 * errors that both share cancel. */
export function changeOf(replay: Replay): number {
  return replay.chosen.seconds / replay.own.seconds - 1;
}

/** Whether the predicted change is larger than what the replay is off by. */
export function isBeyondError(replay: Replay): boolean {
  return Math.abs(changeOf(replay)) > Math.max(Math.abs(replay.errors.recorded), Math.abs(replay.errors.costs));
}

export interface ClassRow {
  readonly name: string;
  /** Lane seconds of a batch, on average. */
  readonly measured: number;
  readonly own: number;
  readonly chosen: number;
}

/** Below this share of lane time in every schedule a class is left out of the table. */
const SMALLEST_SHARE = 0.001;

/** Lane time of a batch by class; what changes most comes first. */
export function classRows({ measured, own, chosen, num_batches }: Replay): ClassRow[] {
  const schedules = [measured, own, chosen];
  const totals = schedules.map(({ lane_seconds }) => Object.values(lane_seconds).reduce((sum, one) => sum + one, 0));
  const names = new Set(schedules.flatMap(({ lane_seconds }) => Object.keys(lane_seconds)));
  return [...names]
    .filter((name) =>
      schedules.some(({ lane_seconds }, index) => (lane_seconds[name] ?? 0) > SMALLEST_SHARE * (totals[index] ?? 0)),
    )
    .map((name) => ({
      name,
      measured: (measured.lane_seconds[name] ?? 0) / num_batches,
      own: (own.lane_seconds[name] ?? 0) / num_batches,
      chosen: (chosen.lane_seconds[name] ?? 0) / num_batches,
    }))
    .sort((a, b) => Math.abs(b.chosen - b.own) - Math.abs(a.chosen - a.own));
}

/** How the run was: what a choice that is left empty means. */
export function wasSet(spec: Run["spec"]): Chosen {
  const { pipeline, lanes, batch } = spec;
  return {
    placement: pipeline.placement,
    gap: pipeline.gap ? "on" : "off",
    tsp: pipeline.tsp ? "on" : "off",
    tag: pipeline.tag,
    max_staleness: String(pipeline.max_staleness),
    fragment_size: batch.fragment_size === null ? "chosen by the plan" : String(batch.fragment_size),
    num_rollout: String(lanes.num_rollout),
    num_trainer: String(lanes.num_trainer),
    num_reward: String(lanes.num_reward),
    device: "its own",
  };
}

/** Seconds by which the chosen schedule is ahead of the replay as it ran when each batch ends; negative is behind. */
export function leads({ own, chosen }: Replay): number[] {
  let lead = 0;
  return own.batch_seconds.map((seconds, index) => {
    lead += seconds - (chosen.batch_seconds[index] ?? seconds);
    return lead;
  });
}

/** Below this share of the run's time a lead is none. */
const NO_LEAD = 0.0005;

/** Who is ahead at the end, and where that changed. */
export function leadText(replay: Replay): string {
  const found = leads(replay);
  const last = found.at(-1) ?? 0;
  const least = NO_LEAD * replay.own.seconds;
  const after = `After ${found.length === 1 ? "the batch" : `${found.length} batches`}`;
  if (Math.abs(last) < least) return `${after} both are level.`;
  const side = last > 0 ? "ahead of" : "behind";
  const turn = found.findLastIndex((lead) => Math.abs(lead) >= least && Math.sign(lead) !== Math.sign(last));
  const before = turn < 0 ? "" : ` Up to batch ${replay.first_batch + turn} it was ${last > 0 ? "behind" : "ahead"}.`;
  return `${after} the replay is ${duration(Math.abs(last))} ${side} the run.${before}`;
}

/** What was asked for, as "Staleness allowed: 1 → 0". */
export function changedSettings(asked: Chosen, spec: Run["spec"], labels: Readonly<Chosen>): string[] {
  const was = wasSet(spec);
  const keys = Object.keys(asked) as (keyof Chosen)[];
  const worded = (key: keyof Chosen) => (FLAGS.includes(key) ? (asked[key] === "true" ? "on" : "off") : asked[key]);
  return keys
    .filter((key) => asked[key] !== "" && worded(key) !== was[key])
    .map((key) => `${labels[key]}: ${was[key]} → ${worded(key)}`);
}

/** The classes of lane time that change most, as "Train −2.0 s"; none where nothing changes by a share worth naming. */
export function changedTime(replay: Replay): string[] {
  const rows = classRows(replay);
  const all = rows.reduce((sum, { own }) => sum + own, 0);
  return rows
    .filter(({ own, chosen }) => Math.abs(chosen - own) > LEAST_NAMED_SHARE * all)
    .slice(0, MOST_NAMED)
    .map(({ name, own, chosen }) => `${classLabel(name)} ${changeText(chosen - own)}`);
}

const [LEAST_NAMED_SHARE, MOST_NAMED] = [0.005, 3];

export function changeText(seconds: number): string {
  if (Math.abs(seconds) < 0.005) return "–";
  return `${seconds > 0 ? "+" : "−"}${duration(Math.abs(seconds))}`;
}
