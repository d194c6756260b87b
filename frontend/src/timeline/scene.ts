/** What drawing needs: the canvas, its colours and layout, the window of time, and where an instant lies there. */

import type { Layout } from "./layout.ts";
import type { View } from "./view.ts";

/** The theme's colours and font, as a canvas takes them. */
export interface CanvasTheme {
  /** The colour of a custom property, e.g. `--ink`. */
  readonly colour: (name: string) => string;
  /** The same, see-through. */
  readonly faded: (name: string, alpha: number) => string;
  readonly fontFamily: string;
  /** The hatching of idle time. */
  readonly idle: CanvasPattern | string;
}

export interface Scene {
  readonly context: CanvasRenderingContext2D;
  readonly theme: CanvasTheme;
  readonly layout: Layout;
  readonly view: View;
  /** The instant from which the axis counts, in Unix seconds. */
  readonly origin: number;
}

/** Where an instant lies across the canvas, in CSS pixels. */
export function timeToX({ layout, view }: Pick<Scene, "layout" | "view">, time: number): number {
  return layout.labelWidth + ((time - view.from) / (view.to - view.from)) * (layout.width - layout.labelWidth);
}

export function fontOf({ theme }: Scene, pixels: number, weight = ""): string {
  return `${weight} ${pixels}px ${theme.fontFamily}`.trim();
}

/** `text` cut to `width` CSS pixels of the context's font. */
export function fitted(context: CanvasRenderingContext2D, text: string, width: number): string {
  if (context.measureText(text).width <= width) return text;
  let kept = text;
  while (kept.length > 1 && context.measureText(`${kept}…`).width > width) kept = kept.slice(0, -1);
  return `${kept}…`;
}
