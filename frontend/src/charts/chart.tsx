/** One uPlot chart in a box that follows its size, its theme and its data; charts of one page share a crosshair. */

import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { duration, number } from "../base/format.ts";
import { colour, faded, fontFamily, themeVersion } from "../base/palette.ts";
import { type ChartColumns, tickTexts, type XAxis } from "./axis.ts";

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
  readonly onCursor?: (index: number | null) => void;
}

/** Width of a digit of an axis, in CSS pixels. */
const CHAR_WIDTH = 6.2;

/** Batches and steps are whole; halves between them mean nothing. */
const WHOLE_INCREMENTS = [1, 2, 5]
  .flatMap((digit) => [0, 1, 2, 3, 4, 5, 6].map((power) => digit * 10 ** power))
  .sort((a, b) => a - b);

const X_LABEL: Record<XAxis, (value: number) => string> = {
  batch: (value) => number(value),
  step: (value) => number(value),
  wall: (value) => duration(value),
};

export function Chart(props: Props) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const hasBand = props.data.low !== null && props.data.high !== null;
  const shape = [
    props.lines.map((line) => line.label + line.colour).join("|"),
    props.axis,
    hasBand,
    props.smoothed,
    props.height,
    themeVersion.value,
  ].join("#");

  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const created = new uPlot(options(latest, element.clientWidth, hasBand), columns(latest.current, hasBand), element);
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
  }, [shape]);

  useEffect(() => {
    plot.current?.setData(columns(props, hasBand));
  }, [props.data]);

  return <div ref={box} class="chart" style={{ minHeight: `${props.height}px` }} />;
}

function columns(props: Props, hasBand: boolean): uPlot.AlignedData {
  const { x, lines, raw, low, high } = props.data;
  const shown: (readonly (number | null)[])[] = [...lines];
  if (props.smoothed) shown.push(...raw);
  if (hasBand && low && high) shown.push(high, low);
  return [x, ...shown] as unknown as uPlot.AlignedData;
}

function series(props: Props, hasBand: boolean): uPlot.Series[] {
  const few = props.data.x.length < 40;
  const bold = props.lines.map(
    (line): uPlot.Series => ({
      label: line.label,
      stroke: colour(line.colour),
      width: 1.75,
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

function options(latest: { current: Props }, width: number, hasBand: boolean): uPlot.Options {
  const props = latest.current;
  const numSeries = series(props, hasBand).length;
  const bandFill = faded(colour(props.lines[0]?.colour ?? "--series-1"), 0.14);
  return {
    width,
    height: props.height,
    padding: [10, 12, 0, 0],
    legend: { show: false },
    series: series(props, hasBand),
    bands: hasBand ? [{ series: [numSeries - 2, numSeries - 1], fill: bandFill }] : [],
    scales: { x: { time: false, range: widened }, y: { range: padded } },
    axes: [
      {
        ...axisStyle(),
        size: 26,
        gap: 4,
        values: (_plot, ticks) => ticks.map(X_LABEL[props.axis]),
        space: 70,
        ...(props.axis === "wall" ? {} : { incrs: WHOLE_INCREMENTS }),
      },
      valueAxis(),
    ],
    cursor: {
      sync: { key: `${props.syncKey}-${props.axis}`, scales: ["x", null] },
      y: false,
      points: { size: 7, width: 2 },
      drag: { x: true, y: false, uni: 20 },
    },
    hooks: {
      setCursor: [(plot) => latest.current.onCursor?.(plot.cursor.idx ?? null)],
      draw: props.reference === undefined ? [] : [(plot) => drawReference(plot, props.reference as number)],
    },
  };
}

export function axisStyle(): uPlot.Axis {
  return {
    stroke: colour("--ink-3"),
    font: `11px ${fontFamily()}`,
    ticks: { show: false },
    grid: { stroke: faded(colour("--line"), 0.8), width: 1 },
  };
}

/** The y axis, as wide as its longest label. */
export function valueAxis(): uPlot.Axis {
  return {
    ...axisStyle(),
    size: (_plot, texts) => Math.max(50, CHAR_WIDTH * Math.max(0, ...(texts ?? []).map((text) => text.length)) + 12),
    gap: 6,
    values: (_plot, ticks, _axis, _space, increment) => tickTexts(ticks, increment),
  };
}

/** A single point stands in the middle of a range of its own: uPlot has made 0–100 of one at 0 before it asks. */
function widened(plot: uPlot, low: number | null, high: number | null): uPlot.Range.MinMax {
  if (low === null || high === null) return [0, 1];
  const [only, another] = plot.data[0];
  if (only !== undefined && another === undefined) return [only - 1, only + 1];
  return [low, high];
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
