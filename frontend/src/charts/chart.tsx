/** One uPlot chart in a box that follows its size, its theme and its data; charts of one page share a crosshair. */

import type uPlot from "uplot";
import { duration, number } from "../base/format.ts";
import { colour, faded } from "../base/palette.ts";
import { seriesDash } from "../base/series.ts";
import type { ChartColumns, Column, XAxis } from "./axis.ts";
import { type OnZoom, type Range, showWhole, zoomTo } from "./drag_zoom.ts";
import { drawNames, namesWidth } from "./line_names.ts";
import { axisStyle, drawReference, LAST_LABEL, logAxis, padded, usePlot, valueAxis, WHOLE_INCREMENTS } from "./plot.ts";
import type { YScale } from "./tools.tsx";

export interface Line {
  readonly label: string;
  /** Name of a custom property, e.g. `--series-1`. */
  readonly colour: string;
}

interface Props {
  readonly lines: readonly Line[];
  readonly data: ChartColumns;
  readonly axis: XAxis;
  readonly height: number;
  readonly syncKey: string;
  readonly reference?: number | undefined;
  readonly smoothed: boolean;
  /** On a logarithmic axis what is not above zero is left out. */
  readonly scale?: YScale;
  /** Write the lines' names at their ends. */
  readonly named?: boolean;
  /** Width of the value axis, in CSS pixels; as its labels need it without. */
  readonly axisWidth?: number;
  /** The chart beneath labels the x axis of both. */
  readonly isAxisBelow?: boolean;
  /** The window of x that is shown; all of it without. */
  readonly zoom?: Range | null;
  /** A window was dragged out, or all asked for (null). Without it the chart zooms for itself, until its data change. */
  readonly onZoom?: OnZoom;
  readonly onCursor?: (index: number | null) => void;
}

const X_LABEL: Record<XAxis, (value: number) => string> = {
  batch: (value) => number(value),
  step: (value) => number(value),
  wall: (value) => duration(value),
};

export function Chart(props: Props) {
  const hasBand = props.data.low !== null && props.data.high !== null;
  const box = usePlot({
    props,
    shape: [
      props.lines.map((line) => line.label + line.colour).join("|"),
      props.axis,
      hasBand,
      props.smoothed,
      props.scale,
      props.axisWidth,
    ],
    options: (latest, width) => options(latest, width, hasBand),
    columns: (latest) => columns(latest, hasBand),
    data: [props.data, props.zoom],
  });
  return <div ref={box} class="chart" style={{ minHeight: `${props.height}px` }} />;
}

function columns(props: Props, hasBand: boolean): uPlot.AlignedData {
  const { x, lines, raw, low, high } = props.data;
  const shown: Column[] = [...lines];
  if (props.smoothed) shown.push(...raw);
  if (hasBand && low && high) shown.push(high, low);
  const drawn = props.scale === "log" ? shown.map(positive) : shown;
  return [x, ...drawn] as unknown as uPlot.AlignedData;
}

const positive = (column: Column) => column.map((value) => (value !== null && value > 0 ? value : null));

function series(props: Props, hasBand: boolean): uPlot.Series[] {
  const few = props.data.x.length < 40;
  const bold = props.lines.map(
    (line): uPlot.Series => ({
      label: line.label,
      stroke: colour(line.colour),
      width: 1.75,
      dash: seriesDash(line.colour),
      spanGaps: true,
      points: few ? { show: true, size: 4, fill: colour(line.colour) } : { show: false },
    }),
  );
  const faint = props.smoothed
    ? props.lines.map(
        (line): uPlot.Series => ({
          label: `${line.label} (raw)`,
          stroke: faded(colour(line.colour), 0.28),
          width: 1,
          spanGaps: true,
          points: { show: false },
        }),
      )
    : [];
  const edge: uPlot.Series = { stroke: "transparent", points: { show: false }, spanGaps: true };
  return [{}, ...bold, ...faint, ...(hasBand ? [edge, edge] : [])];
}

function options(latest: { readonly current: Props }, width: number, hasBand: boolean): uPlot.Options {
  const props = latest.current;
  const numSeries = series(props, hasBand).length;
  const bandFill = faded(colour(props.lines[0]?.colour ?? "--series-1"), 0.14);
  return {
    width,
    height: props.height,
    padding: [10, props.named ? namesWidth(width) : LAST_LABEL, 0, 0],
    legend: { show: false },
    series: series(props, hasBand),
    bands: hasBand ? [{ series: [numSeries - 2, numSeries - 1], fill: bandFill }] : [],
    scales: {
      x: { time: false, range: (plot, low, high) => shownRange(latest.current, plot, low, high) },
      y: props.scale === "log" ? { distr: 3 } : { range: padded },
    },
    axes: [
      {
        ...axisStyle(),
        size: props.isAxisBelow ? 6 : 26,
        gap: 4,
        values: (_plot, ticks) => (props.isAxisBelow ? [] : ticks.map(X_LABEL[props.axis])),
        space: 70,
        ...(props.axis === "wall" ? {} : { incrs: WHOLE_INCREMENTS }),
      },
      props.scale === "log" ? logAxis() : valueAxis(props.axisWidth),
    ],
    cursor: {
      sync: { key: `${props.syncKey}-${props.axis}`, scales: ["x", null] },
      y: false,
      points: { size: 7, width: 2 },
      drag: { x: true, y: false, uni: 20, setScale: props.onZoom === undefined },
      ...(props.onZoom ? { bind: { dblclick: () => () => showWhole(latest.current.onZoom) } } : {}),
    },
    hooks: {
      setSelect: [(plot) => zoomTo(latest.current.onZoom, plot)],
      setCursor: [(plot) => latest.current.onCursor?.(plot.cursor.idx ?? null)],
      draw: [
        (plot) => {
          if (props.reference !== undefined) drawReference(plot, props.reference);
          if (props.named) drawNames(plot, latest.current.lines);
        },
      ],
    },
  };
}

/** The window zoomed to; else a single point stands in the middle of a range of its own: uPlot has made 0–100 of one at
 * 0 before it asks. */
function shownRange({ zoom }: Props, plot: uPlot, low: number | null, high: number | null): uPlot.Range.MinMax {
  if (zoom) return [zoom.from, zoom.to];
  if (low === null || high === null) return [0, 1];
  const [only, another] = plot.data[0];
  if (only !== undefined && another === undefined) return [only - 1, only + 1];
  return [low, high];
}
