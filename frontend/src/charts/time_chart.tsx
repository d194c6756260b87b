/** A chart over clock time: lines with an envelope, stacked areas of buckets, or stacked bars of days. It follows its
 * box's size, the theme and its data; charts with one `syncKey` share a crosshair. */

import uPlot from "uplot";
import { colour, faded } from "../base/palette.ts";
import { seriesDash } from "../base/series.ts";
import type { Column } from "./axis.ts";
import { axisStyle, drawReference, padded, usePlot, valueAxis } from "./plot.ts";
import { stacked } from "./stacks.ts";

export interface TimeSeries {
  readonly label: string;
  /** Name of a custom property, e.g. `--series-1`. */
  readonly colour: string;
  readonly values: Column;
}

interface Props {
  /** Unix seconds: of readings for lines, of the begin of each bucket for areas and bars. */
  readonly at: readonly number[];
  /** Areas and bars are stacked, the first at the bottom. */
  readonly series: readonly TimeSeries[];
  readonly shape: "lines" | "areas" | "bars";
  /** Where the last bucket ends, in Unix seconds. */
  readonly until?: number | undefined;
  /** Around the only line. */
  readonly band?: { readonly low: Column; readonly high: Column } | undefined;
  /** What the y axis must hold at least; fitted to the values without it. */
  readonly range?: readonly [number, number] | undefined;
  readonly reference?: number | undefined;
  readonly height: number;
  readonly syncKey: string;
  /** The chart in words, for those who do not see it. */
  readonly label: string;
  readonly onCursor?: (index: number | null) => void;
}

export function TimeChart(props: Props) {
  const box = usePlot({
    props,
    shape: [
      props.series.map((one) => one.label + one.colour).join("|"),
      props.shape,
      props.band !== undefined,
      props.range?.join(),
      props.reference,
      props.at.length < FEW_READINGS,
    ],
    options,
    columns,
    data: [props.at, props.series, props.band],
  });
  return <div ref={box} class="chart" role="img" aria-label={props.label} style={{ minHeight: `${props.height}px` }} />;
}

/** Stacks are drawn from the highest top down, each over the one before it. */
function columns({ at, series, shape, band, until }: Props): uPlot.AlignedData {
  const values = series.map((one) => one.values);
  if (shape === "lines") {
    return [at, ...values, ...(band ? [band.high, band.low] : [])] as unknown as uPlot.AlignedData;
  }
  const tops = stacked(values).reverse();
  if (shape === "bars" || until === undefined) return [at, ...tops] as unknown as uPlot.AlignedData;
  // The last step reaches to the end of its bucket.
  return [[...at, until], ...tops.map((top) => [...top, top.at(-1) ?? 0])] as unknown as uPlot.AlignedData;
}

function drawn({ at, series, shape, band }: Props): uPlot.Series[] {
  if (shape === "lines") {
    // Lone readings would make no line.
    const points = { show: at.length < FEW_READINGS, size: 4 };
    const lines = series.map(
      (one): uPlot.Series => ({
        label: one.label,
        stroke: colour(one.colour),
        width: 1.5,
        dash: seriesDash(one.colour),
        points,
      }),
    );
    const edge: uPlot.Series = { stroke: "transparent", points: { show: false } };
    return [{}, ...lines, ...(band ? [edge, edge] : [])];
  }
  const steps = uPlot.paths.stepped?.({ align: 1 });
  const bars = uPlot.paths.bars?.({ size: [0.82, 60], align: 1 });
  const stack = series.map((one): uPlot.Series => {
    const paths = shape === "bars" ? bars : steps;
    return {
      label: one.label,
      fill: colour(one.colour),
      stroke: colour("--surface"),
      width: 0.75,
      points: { show: false },
      ...(paths ? { paths } : {}),
    };
  });
  return [{}, ...stack.reverse()];
}

function options(latest: { readonly current: Props }, width: number): uPlot.Options {
  const props = latest.current;
  const [low, high] = props.range ?? [0, 0];
  const numSeries = props.series.length;
  const bandFill = faded(colour(props.series[0]?.colour ?? "--series-1"), 0.18);
  return {
    width,
    height: props.height,
    // The last tick's label may reach beyond the axis.
    padding: [10, props.shape === "bars" ? 28 : 12, 0, 0],
    legend: { show: false },
    series: drawn(props),
    bands: props.band ? [{ series: [numSeries + 1, numSeries + 2], fill: bandFill }] : [],
    scales: {
      x: {
        time: true,
        range: (plot, from, to) => {
          const [only, another] = plot.data[0];
          if (props.shape === "lines" && only !== undefined && another === undefined) return [only - 300, only + 300];
          return [from ?? 0, (to ?? 1) + (props.shape === "bars" ? DAY_SECONDS : 0)];
        },
      },
      y: {
        range: (plot, from, to) => {
          if (props.shape === "lines" && props.range === undefined) return padded(plot, from, to);
          return [Math.min(low, from ?? low), Math.max(high, to ?? high) * ABOVE || 1];
        },
      },
    },
    axes: [{ ...axisStyle(), size: 36, gap: 4, space: 70, values: TIME_VALUES }, valueAxis()],
    cursor: {
      sync: { key: props.syncKey, scales: ["x", null] },
      y: false,
      points: { show: props.shape === "lines" },
      drag: { x: props.shape === "lines", y: false, uni: 20 },
    },
    hooks: {
      setCursor: [
        (plot) => {
          const index = plot.cursor.idx ?? null;
          const last = latest.current.at.length - 1;
          latest.current.onCursor?.(index === null ? null : Math.min(index, last));
        },
      ],
      draw: props.reference === undefined ? [] : [(plot) => drawReference(plot, props.reference as number)],
    },
  };
}

const DAY_SECONDS = 86_400;
const FEW_READINGS = 10;
/** A little air above the highest value. */
const ABOVE = 1.05;

/** Ticks as 24-hour clock times, with the day below where it changes: increment, format, and what is written when a
 * year, a month, a day, an hour, a minute, a second begins, as uPlot takes them. */
const [HOUR, DAY] = ["{HH}:{mm}", "{D} {MMM}"];
const TIME_VALUES: (string | number | null)[][] = [
  [DAY_SECONDS, DAY, "\n{YYYY}", null, null, null, null, null, 1],
  [3600, HOUR, `\n${DAY}`, null, `\n${DAY}`, null, null, null, 1],
  [60, HOUR, `\n${DAY}`, null, `\n${DAY}`, null, null, null, 1],
  [1, "{HH}:{mm}:{ss}", `\n${DAY}`, null, `\n${DAY}`, null, null, null, 1],
];
