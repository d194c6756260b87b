/** A strip above each lane: what the plan promised it would do, from the version on that the batch begins with. */

import { classOf } from "./classes.ts";
import type { LaneTrack } from "./lane_tracks.ts";
import { rowTop } from "./layout.ts";
import { type BatchBesidePlan, plannedSpans } from "./planned_batches.ts";
import { type Scene, timeToX } from "./scene.ts";

/** Fainter than what happened. */
const STRENGTH = 0.55;
/** Between two spans of a strip that is wide enough. */
const [GAP, GAP_FROM_WIDTH] = [0.75, 5];

export function drawPlan(scene: Scene, tracks: readonly LaneTrack[], batches: readonly BatchBesidePlan[]): void {
  const { context, theme, layout } = scene;
  const height = layout.planHeight - 1;
  tracks.forEach((track, lane) => {
    const top = rowTop(layout, lane) + 2;
    for (const batch of batches) {
      for (const { kind, start, end } of plannedSpans(batch, track.lane)) {
        const [left, right] = [timeToX(scene, start), timeToX(scene, end)];
        if (kind === "idle" || right < layout.labelWidth || left > layout.width) continue;
        context.fillStyle = theme.faded(classOf(kind).colour, STRENGTH);
        context.fillRect(left, top, Math.max(0.5, right - left - (right - left > GAP_FROM_WIDTH ? GAP : 0)), height);
      }
      drawEnds(scene, batch, top, height);
    }
  });
}

/** The batch's promised length as a line beneath its strip, with a stop where it ends before the batch did. */
function drawEnds(scene: Scene, { planned, from, to }: BatchBesidePlan, top: number, height: number): void {
  const { context, theme } = scene;
  const promised = from + planned.seconds;
  const [left, right] = [timeToX(scene, from), timeToX(scene, Math.min(promised, to ?? Infinity))];
  context.fillStyle = theme.faded("--ink-3", STRENGTH);
  context.fillRect(left, top + height, right - left, 1);
  if (to === null || promised < to) context.fillRect(right - 1, top - 1, 1.5, height + 2);
}
