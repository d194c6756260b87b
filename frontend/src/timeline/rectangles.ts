/** From the spans of one lane to the rectangles that a window of it is painted with. Pure.
 *
 * Spans thinner than a pixel become one pixel of the class that fills most of it, so a window over twenty thousand spans
 * costs at most one rectangle a pixel and lane.
 */

import type { SpanKind, TimelineSpan } from "../api/schema.ts";
import { type Scene, timeToX } from "./scene.ts";
import { spansIn } from "./search.ts";

export interface Rectangle {
  readonly left: number;
  readonly right: number;
  readonly kind: SpanKind;
  /** null: several spans, each thinner than a pixel. */
  readonly span: TimelineSpan | null;
}

/** How far beyond the edges of the plot a rectangle may reach, in CSS pixels, so that its end is not seen there. */
const OVERHANG = 2;

export function* rectanglesOf(
  spans: readonly TimelineSpan[],
  scene: Pick<Scene, "layout" | "view">,
): Iterable<Rectangle> {
  const { layout, view } = scene;
  let pixel: { column: number; kind: SpanKind; longest: number } | null = null;
  for (const span of spansIn(spans, view)) {
    const left = Math.max(timeToX(scene, span.start), layout.labelWidth - OVERHANG);
    const right = Math.min(timeToX(scene, span.end), layout.width + OVERHANG);
    const column = Math.floor(left);
    const isThin = right - left < 1;
    if (pixel && !(isThin && column === pixel.column)) {
      yield { left: pixel.column, right: pixel.column + 1, kind: pixel.kind, span: null };
      pixel = null;
    }
    if (!isThin) yield { left, right, kind: span.kind, span };
    else if (!pixel || right - left > pixel.longest) pixel = { column, kind: span.kind, longest: right - left };
  }
  if (pixel) yield { left: pixel.column, right: pixel.column + 1, kind: pixel.kind, span: null };
}
