/** Painting the timeline: lanes of spans, time axis with version ticks, queue depths beneath on the same axis. */

import { classOf } from "./classes.ts";
import { drawFleet, drawFleetLabels } from "./draw_fleet.ts";
import { drawChanges, drawLends, drawPulls, drawVersions } from "./draw_marks.ts";
import { drawPlan } from "./draw_plan.ts";
import { drawQueueLabels, drawQueues } from "./draw_queues.ts";
import { type LaneTrack, labelOf } from "./lane_tracks.ts";
import { type Layout, rowTop, spansBox } from "./layout.ts";
import { type Rectangle, rectanglesOf } from "./rectangles.ts";
import { fitted, fontOf, type Scene, timeToX } from "./scene.ts";
import { ticksOf } from "./ticks.ts";
import type { TimelineState } from "./timeline_state.ts";
import type { Selection } from "./under_pointer.ts";

/** CSS pixels between two ticks, at least: room for a label of hours. */
const TICK_PIXELS = 90;
/** Background left between neighbours of one class, so that fragments can be counted; wide rectangles have room for it. */
const [GAP, GAP_FROM_WIDTH] = [0.75, 7];
/** A span's text needs so much room, in CSS pixels. */
const [TEXT_FROM_WIDTH, TEXT_FROM_HEIGHT] = [46, 16];
const DENSE_BELOW_HEIGHT = 20;

export function draw(scene: Scene, state: TimelineState): void {
  const { context, layout } = scene;
  context.clearRect(0, 0, layout.width, layout.height);
  context.textBaseline = "middle";
  drawGrid(scene);
  context.save();
  context.beginPath();
  context.rect(layout.labelWidth, 0, layout.width - layout.labelWidth, layout.height);
  context.clip();
  const { tracks, shown } = state;
  tracks.forEach((track, lane) => {
    for (const rectangle of rectanglesOf(track.spans, scene)) drawRectangle(scene, rectangle, lane);
  });
  drawPlan(scene, tracks, state.plannedBatches);
  drawFleet(scene, state.fleet, state.states);
  drawPulls(scene, tracks, shown.versions);
  drawVersions(scene, shown.versions);
  drawLends(scene, tracks);
  drawChanges(scene, shown);
  if (shown.queues.length > 0) drawQueues(scene, shown.queues);
  const selection = state.selection.peek();
  if (selection)
    drawSelection(
      scene,
      selection,
      tracks.findIndex(({ lane }) => lane === selection.track.lane),
    );
  context.restore();
  drawLabels(scene, state);
}

function drawGrid(scene: Scene): void {
  const { context, theme, layout, view, origin } = scene;
  context.font = fontOf(scene, 11);
  context.textAlign = "center";
  for (const { at, label } of ticksOf(view, (layout.width - layout.labelWidth) / TICK_PIXELS, origin)) {
    const x = Math.round(timeToX(scene, at)) + 0.5;
    if (x < layout.labelWidth) continue;
    context.strokeStyle = theme.faded("--line", 0.9);
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(x, layout.rowsTop - 4);
    context.lineTo(x, layout.height);
    context.stroke();
    if (x > layout.labelWidth + 14 && x < layout.width - 18) {
      context.fillStyle = theme.colour("--ink-3");
      context.fillText(label, x, 10);
    }
  }
  context.textAlign = "left";
}

function drawRectangle(scene: Scene, { left, right, kind, span }: Rectangle, lane: number): void {
  const { context, theme, layout } = scene;
  const { top, height } = spansBox(layout, lane);
  const width = right - left;
  context.fillStyle = kind === "idle" ? theme.idle : theme.colour(classOf(kind).colour);
  context.fillRect(left, top, width > GAP_FROM_WIDTH ? width - GAP : width, height);
  if (kind === "idle" || width <= TEXT_FROM_WIDTH || height < TEXT_FROM_HEIGHT) return;
  const text = span?.group == null ? classOf(kind).label : `g${span.group}`;
  context.font = fontOf(scene, 10.5);
  if (context.measureText(text).width > width - 8) return;
  context.fillStyle = "rgb(255 255 255 / 92%)";
  context.fillText(text, left + 5, top + height / 2 + 0.5);
}

function drawSelection(scene: Scene, { span }: Selection, lane: number): void {
  const { context, theme, layout } = scene;
  const left = timeToX(scene, span.start);
  const width = Math.max(2, timeToX(scene, span.end) - left);
  context.strokeStyle = theme.colour("--ink");
  context.lineWidth = 1.5;
  const { top, height } = spansBox(layout, lane);
  context.strokeRect(left, top - 0.5, width, height + 1);
}

function drawLabels(scene: Scene, state: TimelineState): void {
  const { context, theme, layout } = scene;
  context.fillStyle = theme.colour("--surface");
  context.fillRect(0, layout.rowsTop - 2, layout.labelWidth, layout.height);
  state.tracks.forEach((track, lane) => {
    drawLaneLabel(scene, layout, lane, track);
  });
  drawFleetLabels(scene, state.fleet);
  const { queues } = state.shown;
  if (queues.length > 0) drawQueueLabels(scene, queues);
}

function drawLaneLabel(scene: Scene, layout: Layout, lane: number, track: LaneTrack): void {
  const { context, theme } = scene;
  const device = track.info?.device ?? "";
  const isDense = layout.rowHeight < DENSE_BELOW_HEIGHT;
  const y = rowTop(layout, lane) + layout.rowHeight / 2;
  context.fillStyle = theme.colour("--ink");
  context.font = fontOf(scene, isDense ? 10 : 12);
  const label = labelOf(track);
  // Where the role has no room the name has: its number tells lanes apart.
  const name = context.measureText(label).width <= layout.labelWidth - 8 ? label : track.lane;
  context.fillText(fitted(context, name, layout.labelWidth - 8), 0, y);
  const used = context.measureText(name).width;
  if (isDense || !device || layout.labelWidth - used <= 48) return;
  context.fillStyle = theme.colour("--ink-3");
  context.font = fontOf(scene, 10.5);
  context.fillText(fitted(context, device, layout.labelWidth - used - 16), used + 8, y + 0.5);
}
