/** A heat map over batches: a column each, or one for several neighbours, and a row for each level. It follows its box's
 * size, the theme and its data, and shares its crosshair and its window with the charts of one `syncKey`. */

import type uPlot from "uplot";
import { number } from "../base/format.ts";
import { colour, faded, fontFamily } from "../base/palette.ts";
import { type OnZoom, type Range, showWhole, zoomTo } from "./drag_zoom.ts";
import { axisStyle, LAST_LABEL, usePlot, WHOLE_INCREMENTS } from "./plot.ts";

export interface HeatColumn {
  /** First and last batch. */
  readonly from: number;
  readonly to: number;
  /** By row, from the bottom. */
  readonly values: readonly number[];
}

interface Props {
  readonly columns: readonly HeatColumn[];
  /** Names of the rows, from the bottom. */
  readonly rows: readonly string[];
  /** The value with the full colour. */
  readonly most: number;
  /** Name of a custom property, e.g. `--accent`. */
  readonly colour: string;
  readonly window: Range;
  readonly height: number;
  /** Width of the column of row names, in CSS pixels: that of the value axis of the charts above. */
  readonly axisWidth: number;
  readonly syncKey: string;
  /** The map in words, for those who do not see it. */
  readonly label: string;
  readonly onZoom: OnZoom;
  readonly onCursor: (index: number | null) => void;
}

/** The faintest cell is still told from an empty one. */
const LEAST_OPACITY = 0.14;
/** Cells with so much room, in CSS pixels, say their value. */
const [TEXT_FROM_WIDTH, TEXT_FROM_HEIGHT] = [30, 15];
/** From this opacity on the ink of the accent has more contrast than the page's, in both themes. */
const INVERTED_FROM = 0.7;
/** Between cells that have room for it, in CSS pixels. */
const [GAP, GAP_FROM_WIDTH] = [1, 8];

export function HeatMap(props: Props) {
  const box = usePlot({
    props,
    shape: [props.rows.join("|"), props.colour, props.axisWidth, props.syncKey],
    options,
    columns: ({ columns }) => [
      columns.map(({ from, to }) => (from + to) / 2),
      new Array<null>(columns.length).fill(null),
    ],
    data: [props.columns, props.most, props.window.from, props.window.to],
  });
  return <div ref={box} class="chart" role="img" aria-label={props.label} style={{ minHeight: `${props.height}px` }} />;
}

export function opacityOf(value: number, most: number): number {
  if (value <= 0 || most <= 0) return 0;
  return LEAST_OPACITY + (1 - LEAST_OPACITY) * Math.min(1, value / most);
}

function options(latest: { readonly current: Props }, width: number): uPlot.Options {
  const { rows, height, axisWidth, syncKey } = latest.current;
  return {
    width,
    height,
    padding: [2, LAST_LABEL, 0, 0],
    legend: { show: false },
    series: [{}, { scale: "row", points: { show: false } }],
    scales: {
      x: { time: false, range: () => [latest.current.window.from, latest.current.window.to] },
      row: { range: () => [-0.5, rows.length - 0.5] },
    },
    axes: [
      {
        ...axisStyle(),
        grid: { show: false },
        size: 26,
        gap: 4,
        space: 70,
        incrs: WHOLE_INCREMENTS,
        values: (_plot, ticks) => ticks.map((tick) => number(tick)),
      },
      {
        ...axisStyle(),
        scale: "row",
        grid: { show: false },
        size: axisWidth,
        gap: 6,
        splits: () => rows.map((_, index) => index),
        values: () => [...rows],
      },
    ],
    cursor: {
      sync: { key: syncKey, scales: ["x", null] },
      y: false,
      points: { show: false },
      drag: { x: true, y: false, setScale: false },
      bind: { dblclick: () => () => showWhole(latest.current.onZoom) },
    },
    hooks: {
      setSelect: [(plot) => zoomTo(latest.current.onZoom, plot)],
      setCursor: [(plot) => latest.current.onCursor(plot.cursor.idx ?? null)],
      draw: [(plot) => drawCells(plot, latest.current)],
    },
  };
}

function drawCells(plot: uPlot, { columns, most, colour: name }: Props): void {
  const { ctx } = plot;
  const { left, top, width, height } = plot.bbox;
  const ratio = devicePixelRatio;
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, top, width, height);
  ctx.clip();
  ctx.fillStyle = colour("--sunken");
  ctx.fillRect(left, top, width, height);
  ctx.font = `${11 * ratio}px ${fontFamily()}`;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  for (const { from, to, values } of columns) {
    const x = plot.valToPos(from - 0.5, "x", true);
    const cellWidth = plot.valToPos(to + 0.5, "x", true) - x;
    values.forEach((value, row) => {
      const opacity = opacityOf(value, most);
      if (opacity === 0) return;
      const y = plot.valToPos(row + 0.5, "row", true);
      const cellHeight = plot.valToPos(row - 0.5, "row", true) - y;
      const gap = cellWidth > GAP_FROM_WIDTH * ratio ? GAP * ratio : 0;
      ctx.fillStyle = faded(colour(name), opacity);
      ctx.fillRect(x, y, cellWidth - gap, cellHeight - GAP * ratio);
      if (cellWidth < TEXT_FROM_WIDTH * ratio || cellHeight < TEXT_FROM_HEIGHT * ratio) return;
      ctx.fillStyle = colour(opacity < INVERTED_FROM ? "--ink" : "--accent-ink");
      ctx.fillText(number(value), x + (cellWidth - gap) / 2, y + cellHeight / 2);
    });
  }
  ctx.restore();
}
