/** Resizes in plain words: what was asked of each lane, and how far it is. */

import type { LaneProgress, ResizeReport } from "../api/schema.ts";
import { duration, words } from "./format.ts";

/** The sum of what replacing the trainer gang took, in seconds. */
function stillSeconds({ checkpoint, start, restore }: NonNullable<ResizeReport["trainer_seconds"]>): number {
  return checkpoint + start + restore;
}

/** "rollout-1 joined as rollout, trainer-0 released". */
export function progressText(lanes: readonly LaneProgress[]): string {
  return lanes
    .map(({ lane, role, step, num_dropped }) => {
      const dropped = num_dropped > 0 ? ` (${num_dropped} fragment${num_dropped > 1 ? "s" : ""} drawn again)` : "";
      return `${lane} ${words(step).toLowerCase()}${asRole(step, role)}${dropped}`;
    })
    .join(", ");
}

function asRole(step: LaneProgress["step"], role: LaneProgress["role"]): string {
  return role !== null && (step === "joined" || step === "starting") ? ` as ${role}` : "";
}

export function secondsText(seconds: ResizeReport["trainer_seconds"]): string {
  if (!seconds) return "";
  const { checkpoint, start, restore } = seconds;
  const parts = `checkpoint ${duration(checkpoint)}, start ${duration(start)}, restore ${duration(restore)}`;
  return `training stood still for ${duration(stillSeconds(seconds))} (${parts})`;
}
