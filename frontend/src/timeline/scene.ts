/** What is painted, onto what, and where a lane and an instant lie there. */

import type { Span } from "../live/timeline_store.ts";
import type { Layout } from "./layout.ts";
import type { View } from "./view.ts";

export interface Scene {
  readonly context: CanvasRenderingContext2D;
  readonly place: Layout;
  readonly view: View;
  readonly origin: number;
  readonly hover: { readonly lane: number; readonly span: Span } | null;
}

export function timeToX(scene: Pick<Scene, "place" | "view">, time: number): number {
  const { place, view } = scene;
  return place.labelWidth + ((time - view.from) / (view.to - view.from)) * (place.width - place.labelWidth);
}

export function rowTop(place: Layout, lane: number): number {
  return place.rowsTop + lane * place.rowHeight;
}
