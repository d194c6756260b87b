/** What lies over the lanes: version ticks with the pulls that follow them, and arrows from lent lanes to their work. */

import { colour, faded, fontFamily } from "../base/palette.ts";
import { type LaneTrack, roleOf, type Span, type TimelineStore } from "../live/timeline_store.ts";
import { rowTop, type Scene, timeToX } from "./scene.ts";
import { firstEndingAfter } from "./search.ts";

const LENT = "lent_generate";
/** Arrows nearer to each other than this are left out, in pixels: a thicket says nothing. */
const ARROW_GAP = 16;
const PULL_HEIGHT = 2.5;

export function drawVersions(scene: Scene, store: TimelineStore): void {
  const { context, place, view } = scene;
  const ink = colour("--span-publish");
  let freeFrom = -Infinity;
  context.font = `600 10.5px ${fontFamily()}`;
  for (const { version, at } of store.versions) {
    if (at < view.from || at > view.to) continue;
    const x = Math.round(timeToX(scene, at)) + 0.5;
    context.strokeStyle = faded(ink, 0.55);
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(x, 22);
    context.lineTo(x, place.queueTop - 8);
    context.stroke();
    const label = `v${version}`;
    if (x < freeFrom) continue;
    context.fillStyle = ink;
    context.fillText(label, x + 3, 27);
    freeFrom = x + context.measureText(label).width + 8;
  }
}

/** From a version's tick along a rollout lane's lower edge to its pull: how long the lane went on without. */
export function drawPulls(scene: Scene, store: TimelineStore): void {
  const publishedAt = new Map(store.versions.map(({ version, at }) => [version, at]));
  const { context, place } = scene;
  context.fillStyle = colour("--span-publish");
  store.tracks.forEach((track, lane) => {
    if (roleOf(track) !== "rollout") return;
    const bottom = rowTop(place, lane) + place.rowHeight - 2;
    for (const span of visible(track.spans, scene)) {
      const from = span.kind === "pull" && span.version !== null ? publishedAt.get(span.version) : undefined;
      if (from === undefined || from > span.end) continue;
      const left = timeToX(scene, from);
      const right = timeToX(scene, span.end);
      context.fillRect(left, bottom - PULL_HEIGHT, Math.max(1, right - left), PULL_HEIGHT);
      if (right - left > 6) triangle(context, right, bottom - PULL_HEIGHT, -5);
    }
  });
}

/** One arrow for each stretch that a trainer lane lends, from its first lent span to the lane whose work it takes. */
export function drawLends(scene: Scene, store: TimelineStore): void {
  const { place, view } = scene;
  const rollout = store.tracks.flatMap((track, lane) => (roleOf(track) === "rollout" ? [{ track, lane }] : []));
  if (rollout.length === 0) return;
  const middleOf = (lane: number) => rowTop(place, lane) + place.rowHeight / 2;
  store.tracks.forEach((track, lane) => {
    if (roleOf(track) !== "trainer") return;
    let last = -Infinity;
    for (const span of lentStretches(track, scene)) {
      const x = timeToX(scene, (Math.max(span.start, view.from) + Math.min(span.end, view.to)) / 2);
      if (x - last < ARROW_GAP) continue;
      last = x;
      const target = rollout.find((one) => sharesGroup(one.track, span)) ?? nearest(rollout, lane);
      arrow(scene.context, x, middleOf(lane), middleOf(target.lane));
    }
  });
}

function* visible(spans: readonly Span[], scene: Scene): Iterable<Span> {
  for (let index = firstEndingAfter(spans, scene.view.from); index < spans.length; index += 1) {
    const span = spans[index] as Span;
    if (span.start >= scene.view.to) return;
    yield span;
  }
}

/** The first span of each run of lent ones. */
function* lentStretches(track: LaneTrack, scene: Scene): Iterable<Span> {
  let isLent = false;
  for (const span of visible(track.spans, scene)) {
    if (span.kind === LENT && !isLent) yield span;
    isLent = span.kind === LENT || (isLent && (span.kind === "decode" || span.kind === "pull"));
  }
}

/** Whether the lane generated another part of the same group: then that is whose work was taken. */
function sharesGroup(track: LaneTrack, lent: Span): boolean {
  if (lent.group === null) return false;
  const middle = firstEndingAfter(track.spans, lent.start);
  return track.spans
    .slice(Math.max(0, middle - 8), middle + 8)
    .some((span) => span.kind === "generate" && span.batch === lent.batch && span.group === lent.group);
}

function nearest<T extends { readonly lane: number }>(lanes: readonly T[], lane: number): T {
  return lanes.reduce((best, one) => (Math.abs(one.lane - lane) < Math.abs(best.lane - lane) ? one : best));
}

/** Dark on a light rim, so that it stands out from spans of every colour. */
function arrow(context: CanvasRenderingContext2D, x: number, from: number, to: number): void {
  const head = to > from ? 6 : -6;
  for (const [ink, width] of [
    ["--surface", 4],
    ["--ink", 1.5],
  ] as const) {
    context.strokeStyle = context.fillStyle = colour(ink);
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
