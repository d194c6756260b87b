/** Painting the timeline: lanes of spans, time axis with version ticks, queue depths beneath on the same axis.
 *
 * Spans thinner than a pixel are merged into runs of one pixel and the class that fills most of it, so a window over
 * twenty thousand spans costs at most one rectangle a pixel and lane.
 */

import { colour, faded, fontFamily } from "../base/palette.ts";
import type { QueueDepth, Span, TimelineStore } from "../live/timeline_store.ts";
import { classOf } from "./classes.ts";
import { drawLends, drawPulls, drawVersions } from "./draw_marks.ts";
import { QUEUE_HEIGHT } from "./layout.ts";
import { rowTop, type Scene, timeToX } from "./scene.ts";
import { firstEndingAfter } from "./search.ts";
import { tickLabel, ticks } from "./view.ts";

export function draw(scene: Scene, store: TimelineStore): void {
  const { context, place } = scene;
  context.clearRect(0, 0, place.width, place.height);
  context.textBaseline = "middle";
  drawGrid(scene);
  context.save();
  context.beginPath();
  context.rect(place.labelWidth, 0, place.width - place.labelWidth, place.height);
  context.clip();
  const idle = idlePattern(context);
  store.tracks.forEach((track, lane) => drawLane(scene, track.spans, lane, idle));
  drawPulls(scene, store);
  drawVersions(scene, store);
  drawLends(scene, store);
  if (store.queues.length > 0) drawQueues(scene, store.queues);
  drawHover(scene);
  context.restore();
  drawLabels(scene, store);
}

let hatch: { key: string; pattern: CanvasPattern | string } | undefined;

function idlePattern(context: CanvasRenderingContext2D): CanvasPattern | string {
  const back = colour("--span-idle");
  const line = colour("--span-idle-line");
  const scale = devicePixelRatio;
  const key = `${back}${line}${scale}`;
  if (hatch?.key === key) return hatch.pattern;
  const tile = document.createElement("canvas");
  const size = Math.round(6 * scale);
  tile.width = tile.height = size;
  const paint = tile.getContext("2d");
  if (!paint) return back;
  paint.fillStyle = back;
  paint.fillRect(0, 0, size, size);
  paint.strokeStyle = line;
  paint.lineWidth = scale;
  paint.beginPath();
  for (const shift of [-size, 0, size]) {
    paint.moveTo(shift, size);
    paint.lineTo(shift + size, 0);
  }
  paint.stroke();
  const pattern = context.createPattern(tile, "repeat");
  pattern?.setTransform(new DOMMatrix().scale(1 / scale));
  hatch = { key, pattern: pattern ?? back };
  return hatch.pattern;
}

function drawLane(scene: Scene, spans: readonly Span[], lane: number, idle: CanvasPattern | string): void {
  const { context, place, view } = scene;
  const top = rowTop(place, lane) + 2;
  const height = place.rowHeight - 4;
  let pixel = -1;
  let pixelKind = "";
  let pixelLongest = 0;
  const flush = () => {
    if (pixel < 0) return;
    context.fillStyle = pixelKind === "idle" ? idle : colour(classOf(pixelKind).colour);
    context.fillRect(pixel, top, 1, height);
    pixel = -1;
  };
  for (let index = firstEndingAfter(spans, view.from); index < spans.length; index += 1) {
    const span = spans[index] as Span;
    if (span.start >= view.to) break;
    const left = Math.max(timeToX(scene, span.start), place.labelWidth - 2);
    const right = Math.min(timeToX(scene, span.end), place.width + 2);
    if (right - left < 1) {
      const column = Math.floor(left);
      if (column !== pixel) {
        flush();
        pixel = column;
        pixelLongest = -1;
      }
      if (right - left > pixelLongest) {
        pixelLongest = right - left;
        pixelKind = span.kind;
      }
      continue;
    }
    flush();
    context.fillStyle = span.kind === "idle" ? idle : colour(classOf(span.kind).colour);
    // A hair of background between neighbours of one class keeps fragments countable when there is room for it.
    context.fillRect(left, top, right - left > 7 ? right - left - 0.75 : right - left, height);
    if (span.kind !== "idle" && right - left > 46 && height >= 16) drawSpanText(scene, span, left, right, top, height);
  }
  flush();
}

function drawSpanText(scene: Scene, span: Span, left: number, right: number, top: number, height: number): void {
  const { context } = scene;
  const text = span.group !== null ? `g${span.group}` : classOf(span.kind).label;
  context.font = `10.5px ${fontFamily()}`;
  if (context.measureText(text).width > right - left - 8) return;
  context.fillStyle = "rgb(255 255 255 / 92%)";
  context.fillText(text, left + 5, top + height / 2 + 0.5);
}

function drawGrid(scene: Scene): void {
  const { context, place, view, origin } = scene;
  const plotWidth = place.width - place.labelWidth;
  context.font = `11px ${fontFamily()}`;
  context.textAlign = "center";
  for (const { at, step } of ticks(view, plotWidth / 90, origin)) {
    const x = Math.round(timeToX(scene, at)) + 0.5;
    if (x < place.labelWidth) continue;
    context.strokeStyle = faded(colour("--line"), 0.9);
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(x, place.rowsTop - 4);
    context.lineTo(x, place.height);
    context.stroke();
    if (x > place.labelWidth + 14 && x < place.width - 18) {
      context.fillStyle = colour("--ink-3");
      context.fillText(tickLabel(at - origin, step), x, 10);
    }
  }
  context.textAlign = "left";
}

function drawQueues(scene: Scene, queues: readonly QueueDepth[]): void {
  const { context, place, view } = scene;
  const names = queueNames(queues);
  const visible = queues.filter((queue, index) => {
    const next = queues[index + 1];
    return queue.at <= view.to && (next === undefined || next.at >= view.from);
  });
  const most = Math.max(1, ...visible.flatMap((queue) => Object.values(queue.depths)));
  const base = place.queueTop + QUEUE_HEIGHT - 8;
  const scale = (QUEUE_HEIGHT - 16) / most;
  names.forEach((name, index) => {
    context.strokeStyle = colour(`--series-${(index % 6) + 1}`);
    context.lineWidth = 1.4;
    context.beginPath();
    let last = base;
    visible.forEach((queue, point) => {
      const x = timeToX(scene, queue.at);
      const y = base - (queue.depths[name] ?? 0) * scale;
      if (point === 0) context.moveTo(x, y);
      else {
        context.lineTo(x, last);
        context.lineTo(x, y);
      }
      last = y;
    });
    context.stroke();
  });
  context.fillStyle = colour("--ink-3");
  context.font = `10px ${fontFamily()}`;
  context.textAlign = "right";
  context.fillText(String(most), place.width - 4, base - most * scale);
  context.textAlign = "left";
}

export function queueNames(queues: readonly QueueDepth[]): string[] {
  return [...new Set(queues.slice(-50).flatMap((queue) => Object.keys(queue.depths)))];
}

function drawHover(scene: Scene): void {
  const { context, place, hover } = scene;
  if (!hover) return;
  const left = timeToX(scene, hover.span.start);
  const width = Math.max(2, timeToX(scene, hover.span.end) - left);
  context.strokeStyle = colour("--ink");
  context.lineWidth = 1.5;
  context.strokeRect(left, rowTop(place, hover.lane) + 1.5, width, place.rowHeight - 3);
}

function drawLabels(scene: Scene, store: TimelineStore): void {
  const { context, place } = scene;
  context.fillStyle = colour("--surface");
  context.fillRect(0, place.rowsTop - 2, place.labelWidth, place.height);
  const small = place.rowHeight < 20;
  store.tracks.forEach((track, lane) => {
    const y = rowTop(place, lane) + place.rowHeight / 2;
    context.fillStyle = colour("--ink");
    context.font = `${small ? 10 : 12}px ${fontFamily()}`;
    context.fillText(clip(context, track.lane, place.labelWidth - 8), 0, y);
    const device = track.info?.device ?? "";
    const used = context.measureText(track.lane).width;
    if (!small && device && place.labelWidth - used > 48) {
      context.fillStyle = colour("--ink-3");
      context.font = `10.5px ${fontFamily()}`;
      context.fillText(clip(context, device, place.labelWidth - used - 16), used + 8, y + 0.5);
    }
  });
  if (store.queues.length === 0) return;
  queueNames(store.queues)
    .slice(0, 4)
    .forEach((name, index) => {
      context.fillStyle = colour(`--series-${(index % 6) + 1}`);
      context.font = `10.5px ${fontFamily()}`;
      context.fillText(
        clip(context, name.replaceAll("_", " "), place.labelWidth - 8),
        0,
        place.queueTop + 8 + index * 13,
      );
    });
}

function clip(context: CanvasRenderingContext2D, text: string, width: number): string {
  if (context.measureText(text).width <= width) return text;
  let kept = text;
  while (kept.length > 1 && context.measureText(`${kept}…`).width > width) kept = kept.slice(0, -1);
  return `${kept}…`;
}
