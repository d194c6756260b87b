/** What all uPlot charts share: their life in a box, their axes, and a reference line. */

import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { colour, faded, fontFamily, themeVersion } from "../base/palette.ts";
import { logTexts, tickTexts } from "./axis.ts";

interface Plotted<Props> {
  readonly props: Props & { readonly height: number };
  /** All that the options depend on, the theme and the height apart: another shape makes another chart. */
  readonly shape: readonly unknown[];
  readonly options: (latest: { readonly current: Props }, width: number) => uPlot.Options;
  readonly columns: (props: Props) => uPlot.AlignedData;
  /** What the columns depend on. */
  readonly data: readonly unknown[];
}

/** A chart in the box of the answered ref: it follows the box's size, the theme, its shape and its data. */
export function usePlot<Props>(plotted: Plotted<Props>): RefObject<HTMLDivElement | null> {
  const { props, options, columns, data } = plotted;
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const latest = useRef(props);
  latest.current = props;
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const created = new uPlot(options(latest, element.clientWidth), columns(latest.current), element);
    plot.current = created;
    const observer = new ResizeObserver(() =>
      created.setSize({ width: element.clientWidth, height: latest.current.height }),
    );
    observer.observe(element);
    return () => {
      observer.disconnect();
      created.destroy();
      plot.current = null;
    };
  }, [[...plotted.shape, props.height, themeVersion.value].join("#")]);
  useEffect(() => {
    plot.current?.setData(columns(props));
  }, data);
  return box;
}

/** Width of a digit of an axis, in CSS pixels. */
const CHAR_WIDTH = 6.2;

/** Room for the half of the last tick's label that reaches beyond the axis, in CSS pixels. */
export const LAST_LABEL = 24;

/** Batches and steps are whole; halves between them mean nothing. */
export const WHOLE_INCREMENTS = [1, 2, 5]
  .flatMap((digit) => [0, 1, 2, 3, 4, 5, 6].map((power) => digit * 10 ** power))
  .sort((a, b) => a - b);

export function axisStyle(): uPlot.Axis {
  return {
    stroke: colour("--ink-3"),
    font: `11px ${fontFamily()}`,
    ticks: { show: false },
    grid: { stroke: faded(colour("--line"), 0.8), width: 1 },
  };
}

/** The y axis, as wide as its longest label if no width is given. */
export function valueAxis(width?: number): uPlot.Axis {
  return {
    ...axisStyle(),
    size: (_plot, texts) =>
      width ?? Math.max(50, CHAR_WIDTH * Math.max(0, ...(texts ?? []).map((text) => text.length)) + 12),
    gap: 6,
    values: (_plot, ticks, _axis, _space, increment) => tickTexts(ticks, increment),
  };
}

/** The y axis by powers of ten: 1, 2 and 5 of each are labelled, or powers alone where it holds more than two. */
export function logAxis(): uPlot.Axis {
  return { ...axisStyle(), size: 50, gap: 6, values: (_plot, ticks) => logTexts(ticks) };
}

/** A little air above and below; a flat curve gets a range of its own instead of uPlot's 0–100. */
export function padded(_plot: uPlot, low: number | null, high: number | null): uPlot.Range.MinMax {
  if (low === null || high === null) return [0, 1];
  const span = high - low || Math.abs(high) * 0.2 || 1;
  return [low - span * 0.08, high + span * 0.08];
}

export function drawReference(plot: uPlot, value: number): void {
  const y = Math.round(plot.valToPos(value, "y", true)) + 0.5;
  const { left, width, top, height } = plot.bbox;
  if (y < top || y > top + height) return;
  plot.ctx.save();
  plot.ctx.strokeStyle = colour("--line-strong");
  plot.ctx.setLineDash([4, 4]);
  plot.ctx.beginPath();
  plot.ctx.moveTo(left, y);
  plot.ctx.lineTo(left + width, y);
  plot.ctx.stroke();
  plot.ctx.restore();
}
