/** The strip beneath the lanes: how many entries wait in each queue, as steps on the timeline's own axis. */

import type { QueueDepths } from "../api/schema.ts";
import { seriesColour } from "../base/series.ts";
import { QUEUE_HEIGHT } from "./layout.ts";
import { fitted, fontOf, type Scene, timeToX } from "./scene.ts";
import type { Extent } from "./view.ts";

/** Names that the label column has room for. */
const MAX_LABELS = 4;
/** The newest instants name the queues: all of a run's queues are in each of its events. */
const NAMED_BY_LAST = 50;

/** By name, since REST and socket give them in different orders: a queue keeps its colour when the page is reloaded. */
export function queueNames(queues: readonly QueueDepths[]): string[] {
  return [...new Set(queues.slice(-NAMED_BY_LAST).flatMap((queue) => Object.keys(queue.depths)))].toSorted();
}

/** The instants in a window, with the one before it, whose depths still hold at its left edge. */
export function depthsIn(queues: readonly QueueDepths[], window: Extent): QueueDepths[] {
  return queues.filter((queue, index) => {
    const next = queues[index + 1];
    return queue.at <= window.to && (next === undefined || next.at >= window.from);
  });
}

export function drawQueues(scene: Scene, queues: readonly QueueDepths[]): void {
  const { context, theme, layout, view } = scene;
  const shown = depthsIn(queues, view);
  const most = Math.max(1, ...shown.flatMap((queue) => Object.values(queue.depths)));
  const base = layout.queueTop + QUEUE_HEIGHT - 8;
  const scale = (QUEUE_HEIGHT - 16) / most;
  queueNames(queues).forEach((name, index) => {
    context.strokeStyle = theme.colour(seriesColour(index));
    context.lineWidth = 1.4;
    context.beginPath();
    let last = base;
    shown.forEach((queue, point) => {
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
  context.fillStyle = theme.colour("--ink-3");
  context.font = fontOf(scene, 10);
  context.textAlign = "right";
  context.fillText(String(most), layout.width - 4, base - most * scale);
  context.textAlign = "left";
}

export function drawQueueLabels(scene: Scene, queues: readonly QueueDepths[]): void {
  const { context, theme, layout } = scene;
  context.font = fontOf(scene, 10.5);
  queueNames(queues)
    .slice(0, MAX_LABELS)
    .forEach((name, index) => {
      context.fillStyle = theme.colour(seriesColour(index));
      const text = fitted(context, name.replaceAll("_", " "), layout.labelWidth - 8);
      context.fillText(text, 0, layout.queueTop + 8 + index * 13);
    });
}
