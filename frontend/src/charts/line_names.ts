/** The names of a chart's lines, written where the lines end. */

import type uPlot from "uplot";
import { colour, fontFamily } from "../base/palette.ts";
import type { Line } from "./chart.tsx";

/** Room for the names in CSS pixels, and the share of the chart that they may take at most. */
const [NAMES_WIDTH, NAMES_SHARE] = [128, 0.3];
/** Between two names, from middle to middle. */
const LINE_HEIGHT = 14;

export function namesWidth(chartWidth: number): number {
  return Math.min(NAMES_WIDTH, NAMES_SHARE * chartWidth);
}

/** Heights near the wanted ones, in their order, at least `distance` apart and if possible between the bounds. */
export function apart(wanted: readonly number[], distance: number, low: number, high: number): number[] {
  const order = wanted.map((_, index) => index).sort((a, b) => (wanted[a] ?? 0) - (wanted[b] ?? 0));
  const placed = [...wanted];
  let least = low;
  for (const index of order) {
    placed[index] = Math.max(placed[index] ?? 0, least);
    least = (placed[index] ?? 0) + distance;
  }
  let most = high;
  for (const index of order.toReversed()) {
    placed[index] = Math.min(placed[index] ?? 0, most);
    most = (placed[index] ?? 0) - distance;
  }
  return placed;
}

/** Draw each line's name right of its last point that is shown. */
export function drawNames(plot: uPlot, lines: readonly Line[]): void {
  const { ctx, bbox } = plot;
  const scale = devicePixelRatio;
  const ends = lines.flatMap((line, index) => {
    const value = lastShown(plot, index + 1);
    return value === null ? [] : [{ line, y: plot.valToPos(value, "y", true) }];
  });
  const heights = apart(
    ends.map(({ y }) => y),
    LINE_HEIGHT * scale,
    bbox.top + 4 * scale,
    bbox.top + bbox.height - 4 * scale,
  );
  const left = bbox.left + bbox.width + 8 * scale;
  ctx.save();
  ctx.font = `${11 * scale}px ${fontFamily()}`;
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  ends.forEach(({ line }, index) => {
    ctx.fillStyle = colour(line.colour);
    ctx.fillText(shortened(ctx, line.label, ctx.canvas.width - left), left, heights[index] ?? 0);
  });
  ctx.restore();
}

function lastShown(plot: uPlot, series: number): number | null {
  const [xs, ys] = [plot.data[0], plot.data[series]];
  const { max } = plot.scales.x ?? {};
  for (let index = xs.length - 1; index >= 0; index--) {
    const value = ys?.[index];
    if (value !== null && value !== undefined && (max === undefined || max === null || (xs[index] ?? 0) <= max))
      return value;
  }
  return null;
}

/** Cut in the middle: names of runs often differ at their end. */
export function shortened(context: Pick<CanvasRenderingContext2D, "measureText">, text: string, width: number): string {
  if (context.measureText(text).width <= width) return text;
  for (let kept = text.length - 1; kept > 2; kept--) {
    const head = Math.ceil(kept / 2);
    const short = `${text.slice(0, head)}…${text.slice(text.length - (kept - head))}`;
    if (context.measureText(short).width <= width) return short;
  }
  return "…";
}
