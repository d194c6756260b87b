/** A window dragged out on a chart becomes the page's, which answers with finer data; a double click asks for all. */

import type uPlot from "uplot";

/** A window of the x axis. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** A window was dragged out, or all asked for (null). */
export type OnZoom = (zoom: Range | null) => void;

/** Narrower drags are clicks, in CSS pixels. */
const LEAST_DRAG = 4;

/** A drag has ended. */
export function zoomTo(onZoom: OnZoom | undefined, plot: uPlot): void {
  const { left, width } = plot.select;
  if (!onZoom || width < LEAST_DRAG) return;
  const [from, to] = [plot.posToVal(left, "x"), plot.posToVal(left + width, "x")];
  plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  onZoom({ from, to });
}

/** The answer of a chart's own double click, which would rescale it by itself. */
export function showWhole(onZoom: OnZoom | undefined): null {
  onZoom?.(null);
  return null;
}
