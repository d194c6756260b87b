/** The states that a run went through, and those that usually follow. Pure. */

import type { Run, RunState, Transition } from "../../api/schema.ts";
import { unixSeconds } from "../../base/format.ts";
import { hasEnded } from "../../base/run_state.ts";

export interface Step {
  readonly state: RunState;
  /** Unix seconds; null where nobody knows. */
  readonly at: number | null;
  /** When the next state began; null for the newest. */
  readonly until: number | null;
  readonly reason: string;
  /** For starts, number of the attempt that began. */
  readonly attempt: number | null;
  /** Back to a start from the middle of the work: the driver was lost. */
  readonly isSetback: boolean;
}

type Move = Pick<Transition, "old" | "new" | "reason" | "at">;

export function stepsOf(run: Pick<Run, "created_at">, transitions: readonly Move[]): Step[] {
  const created: Move = { old: "", new: "queued", reason: "", at: run.created_at };
  const moves = transitions.length > 0 ? transitions : [created];
  const times = moves.map((move) => unixSeconds(move.at));
  let numStarts = 0;
  return moves.map((move, index) => ({
    state: move.new,
    at: times[index] ?? null,
    until: times[index + 1] ?? null,
    reason: move.reason,
    attempt: move.new === "starting" ? ++numStarts : null,
    isSetback: move.new === "starting" && move.old !== "queued",
  }));
}

const USUAL_COURSE: readonly RunState[] = ["queued", "starting", "running", "completed"];

/** The states that lie ahead when nothing goes wrong; of a paused run only the end is sure. */
export function statesAhead(run: Pick<Run, "state">): readonly RunState[] {
  if (hasEnded(run)) return [];
  if (run.state === "stopping") return ["stopped"];
  const reached = USUAL_COURSE.indexOf(run.state);
  return reached >= 0 ? USUAL_COURSE.slice(reached + 1) : USUAL_COURSE.slice(-1);
}
