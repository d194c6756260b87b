/** What lies over the lanes: version ticks with the pulls that follow them, arrows from lent lanes to their work, and
 * ticks of resizes and of new plans. */

import type { AdoptedPlan, EndedResize, PublishedVersion, TimelineSpan } from "../api/schema.ts";
import { duration } from "../base/format.ts";
import { type LaneTrack, roleOf } from "./lane_tracks.ts";
import { MARK_HEIGHT, rowTop } from "./layout.ts";
import type { RecordedTime } from "./recorded_time.ts";
import { fontOf, type Scene, timeToX } from "./scene.ts";
import { firstEndingAfter, spansIn } from "./search.ts";

/** Arrows nearer to each other than this are left out, in pixels: a dense row of arrows cannot be read. */
const ARROW_GAP = 16;
/** Version ticks nearer to each other than this are left out, in pixels: they would cover the spans beneath. */
const TICK_GAP = 8;
const PULL_HEIGHT = 2.5;
/** How many spans on either side of an instant are searched for another fragment of the same group. */
const NEIGHBOURS = 8;

export function drawVersions(scene: Scene, versions: readonly PublishedVersion[]): void {
  const { context, theme, layout, view } = scene;
  let [freeFrom, lastTick] = [-Infinity, -Infinity];
  context.font = fontOf(scene, 10.5, "600");
  for (const { policy_version, at } of versions) {
    if (at < view.from || at > view.to) continue;
    const x = Math.round(timeToX(scene, at)) + 0.5;
    if (x - lastTick < TICK_GAP) continue;
    lastTick = x;
    context.strokeStyle = theme.faded("--span-publish", 0.55);
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(x, 22);
    context.lineTo(x, layout.rowsBottom);
    context.stroke();
    const label = `v${policy_version}`;
    if (x < freeFrom) continue;
    context.fillStyle = theme.colour("--span-publish");
    context.fillText(label, x + 3, 27);
    freeFrom = x + context.measureText(label).width + 8;
  }
}

/** Dashed lines through all lanes where a resize ended and where the run began to work by a new plan, the latter with
 * the seconds of a batch that it promises; their labels lie beneath the lanes, those of each kind on a line. */
export function drawChanges(scene: Scene, { resizes, plans }: Pick<RecordedTime, "resizes" | "plans">): void {
  const rows = [resizes.map(markOfResize), plans.map(markOfPlan)].filter((marks) => marks.length > 0);
  rows.forEach((marks, row) => {
    drawMarks(scene, marks, scene.layout.rowsBottom + (row + 0.5) * MARK_HEIGHT);
  });
}

interface Mark {
  readonly at: number;
  readonly colour: string;
  readonly label: string;
}

function markOfResize({ at, resize }: EndedResize): Mark {
  return resize.state === "failed"
    ? { at, colour: "--bad", label: "resize failed" }
    : { at, colour: "--ink-2", label: "resized" };
}

function markOfPlan({ at, batch_seconds }: AdoptedPlan): Mark {
  return { at, colour: "--accent", label: `new plan: ${duration(batch_seconds)} a batch` };
}

/** Lines down to the height `labelY`, and there their labels, as far as they do not overlap. */
function drawMarks(scene: Scene, marks: readonly Mark[], labelY: number): void {
  const { context, theme, layout, view } = scene;
  let freeFrom = -Infinity;
  context.font = fontOf(scene, 10.5, "600");
  for (const { at, colour, label } of marks) {
    if (at < view.from || at > view.to) continue;
    const x = Math.round(timeToX(scene, at)) + 0.5;
    context.strokeStyle = theme.colour(colour);
    context.lineWidth = 1;
    context.setLineDash([4, 3]);
    context.beginPath();
    context.moveTo(x, layout.rowsTop - 4);
    context.lineTo(x, labelY + MARK_HEIGHT / 2);
    context.stroke();
    context.setLineDash([]);
    const width = context.measureText(label).width;
    // At the right edge the label stands before its line.
    const left = x + 3 + width > layout.width ? x - 3 - width : x + 3;
    if (left < freeFrom) continue;
    context.fillStyle = theme.colour(colour);
    context.fillText(label, left, labelY);
    freeFrom = left + width + 8;
  }
}

/** From a version's tick along a rollout lane's lower edge to its pull: how long the lane worked without that version. */
export function drawPulls(scene: Scene, tracks: readonly LaneTrack[], versions: readonly PublishedVersion[]): void {
  const publishedAt = new Map(versions.map(({ policy_version, at }) => [policy_version, at]));
  const { context, theme, layout, view } = scene;
  context.fillStyle = theme.colour("--span-publish");
  tracks.forEach((track, lane) => {
    if (roleOf(track) !== "rollout") return;
    const bottom = rowTop(layout, lane) + layout.rowHeight - 2;
    for (const { kind, policy_version, end } of spansIn(track.spans, view)) {
      const from = kind === "pull" && policy_version !== null ? publishedAt.get(policy_version) : undefined;
      if (from === undefined || from > end) continue;
      const left = timeToX(scene, from);
      const right = timeToX(scene, end);
      context.fillRect(left, bottom - PULL_HEIGHT, Math.max(1, right - left), PULL_HEIGHT);
      if (right - left > 6) triangle(context, right, bottom - PULL_HEIGHT, -5);
    }
  });
}

/** One arrow for each stretch that a trainer lane lends, from its first lent span to the lane whose work it takes. */
export function drawLends(scene: Scene, tracks: readonly LaneTrack[]): void {
  const { layout, view } = scene;
  const middleOf = (lane: number) => rowTop(layout, lane) + layout.rowHeight / 2;
  tracks.forEach((track, lane) => {
    if (roleOf(track) !== "trainer") return;
    let last = -Infinity;
    for (const span of lentStretches(spansIn(track.spans, view))) {
      const x = timeToX(scene, (Math.max(span.start, view.from) + Math.min(span.end, view.to)) / 2);
      const target = laneHelped(tracks, span, lane);
      if (target === null || x - last < ARROW_GAP) continue;
      last = x;
      arrow(scene, x, middleOf(lane), middleOf(target));
    }
  });
}

/** The first span of each run of lent ones. */
export function* lentStretches(spans: Iterable<TimelineSpan>): Iterable<TimelineSpan> {
  let isLent = false;
  for (const span of spans) {
    if (span.kind === "lent_generate" && !isLent) yield span;
    isLent = span.kind === "lent_generate" || (isLent && (span.kind === "decode" || span.kind === "pull"));
  }
}

/** The rollout lane whose work a lent span took: one that generated another part of the same group, else the nearest
 * to lane number `from`; null without rollout lanes. */
export function laneHelped(tracks: readonly LaneTrack[], lent: TimelineSpan, from: number): number | null {
  const rollout = tracks.flatMap((track, lane) => (roleOf(track) === "rollout" ? [{ track, lane }] : []));
  const sharing = rollout.find(({ track }) => sharesGroup(track, lent));
  const nearest = rollout.toSorted((a, b) => Math.abs(a.lane - from) - Math.abs(b.lane - from))[0];
  return (sharing ?? nearest)?.lane ?? null;
}

function sharesGroup(track: LaneTrack, lent: TimelineSpan): boolean {
  if (lent.group === null) return false;
  const middle = firstEndingAfter(track.spans, lent.start);
  return track.spans
    .slice(Math.max(0, middle - NEIGHBOURS), middle + NEIGHBOURS)
    .some((span) => span.kind === "generate" && span.batch === lent.batch && span.group === lent.group);
}

/** Dark on a light rim, so that it stands out from spans of every colour. */
function arrow({ context, theme }: Scene, x: number, from: number, to: number): void {
  const head = to > from ? 6 : -6;
  for (const [colour, width] of [
    ["--surface", 4],
    ["--ink", 1.5],
  ] as const) {
    context.strokeStyle = context.fillStyle = theme.colour(colour);
    context.lineWidth = width;
    context.beginPath();
    context.arc(x, from, 1.5, 0, 2 * Math.PI);
    context.moveTo(x, from);
    context.quadraticCurveTo(x + 9, (from + to) / 2, x, to - head);
    context.stroke();
  }
  triangle(context, x, to, head);
}

/** A small head with its point at (x, y); `size` < 0 points up. */
function triangle(context: CanvasRenderingContext2D, x: number, y: number, size: number): void {
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(x - Math.abs(size) * 0.7, y - size);
  context.lineTo(x + Math.abs(size) * 0.7, y - size);
  context.fill();
}
