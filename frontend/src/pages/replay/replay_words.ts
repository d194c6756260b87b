/** A replay in sentences and rows: how far it is off, and what would change. Pure. */

import type { Replay, ReplayRequest, Run } from "../../api/schema.ts";
import { percent } from "../../base/format.ts";

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
