/** From stored curves to the columns uPlot draws: the x axis chosen, several curves joined on one x, smoothing applied. */

import { type Kernel, smooth } from "../base/smoothing.ts";
import type { Curve } from "../live/growing_curve.ts";

export type XAxis = "batch" | "step" | "wall";

/** One curve's x values on the chosen axis; `origin` (Unix seconds) is where wall time begins. */
export function xValues(curve: Curve, axis: XAxis, origin: number): number[] {
  if (axis === "batch") return curve.batch;
  if (axis === "step") return curve.optimizer_step;
  return curve.at.map((at) => at - origin);
}

export type Column = (number | null)[];

export interface Joined {
  readonly x: number[];
  readonly columns: Column[];
}

/** Join curves of different x values on the union of them. Where a curve has several points at one x (optimizer steps
 * of one batch), the last counts. Points a curve lacks are null. */
export function join(curves: readonly { x: readonly number[]; y: readonly number[] }[]): Joined {
  const x = [...new Set(curves.flatMap((curve) => curve.x))].sort((a, b) => a - b);
  const row = new Map(x.map((value, index) => [value, index]));
  const columns = curves.map((curve) => {
    const column: Column = new Array<number | null>(x.length).fill(null);
    curve.x.forEach((value, index) => {
      column[row.get(value) as number] = curve.y[index] ?? null;
    });
    return column;
  });
  return { x, columns };
}

export interface ChartColumns {
  readonly x: number[];
  /** Smoothed curves first (the bold lines), then the raw ones (faint) when smoothing is on. */
  readonly lines: Column[];
  readonly raw: Column[];
  readonly low: Column | null;
  readonly high: Column | null;
}

/** The columns of a panel. `spread`: a curve of half-widths around the first one; without it the min–max envelope of a
 * single downsampled curve serves, when there is any width in it. `smoothing`: the kernel's width as a share of x. */
export function chartColumns(
  curves: readonly Curve[],
  spread: Curve | undefined,
  axis: XAxis,
  origin: number,
  smoothing: number,
  kernel: Kernel = "ema",
): ChartColumns {
  const parts = curves.map((curve) => ({ x: xValues(curve, axis, origin), y: curve.value }));
  const first = curves[0];
  const bands: { x: readonly number[]; y: readonly number[] }[] = [];
  if (first && spread) bands.push({ x: xValues(spread, axis, origin), y: spread.value });
  else if (first && curves.length === 1 && first.min.some((low, index) => low !== first.max[index])) {
    const x = xValues(first, axis, origin);
    bands.push({ x, y: first.min }, { x, y: first.max });
  }
  const { x, columns } = join([...parts, ...bands]);
  const raw = columns.slice(0, parts.length);
  const lines = raw.map((column) => smooth(column, x, smoothing, kernel));
  const [one, two] = columns.slice(parts.length);
  const middle = lines[0] ?? [];
  if (one && spread) {
    const around = (sign: number) =>
      middle.map((value, index) => {
        const half = one[index];
        return value === null || half === null || half === undefined ? null : value + sign * half;
      });
    return { x, lines, raw, low: around(-1), high: around(1) };
  }
  return { x, lines, raw, low: one ?? null, high: two ?? null };
}

/** Labels of ticks, with as many digits as neighbours need to differ; powers of ten where decimals would be long. */
export function tickTexts(ticks: readonly number[], increment: number): string[] {
  const [mantissa = "", exponent = "0"] = increment.toExponential(5).split("e");
  // The finest place that the increment has a digit at: 2.5e-4 has one at 1e-5.
  const finest = Number(exponent) - (mantissa.replace(/0+$/, "").split(".")[1]?.length ?? 0);
  const decimals = Math.max(0, -finest);
  // A sum of increments misses zero by a rounding error.
  const exact = ticks.map((tick) => (Math.abs(tick) < increment / 2 ? 0 : tick));
  const largest = Math.max(...exact.map(Math.abs));
  if (largest >= LEAST_PLAIN && decimals <= MAX_DECIMALS) {
    return exact.map((tick) =>
      tick.toLocaleString("en-GB", { minimumFractionDigits: decimals, maximumFractionDigits: decimals }),
    );
  }
  return exact.map((tick) =>
    tick === 0
      ? "0"
      : tick.toExponential(Math.max(0, Math.floor(Math.log10(Math.abs(tick))) - finest)).replace("e+", "e"),
  );
}

const MAX_DECIMALS = 8;
const LEAST_PLAIN = 1e-3;

/** More powers of ten than this leave no room for labels between them. */
const MAX_CROWDED_POWERS = 2;

/** Labels of logarithmic ticks; those left out keep their line. */
export function logTexts(ticks: readonly number[]): string[] {
  const spread = Math.log10(Math.max(...ticks) / Math.min(...ticks));
  const labelled = spread > MAX_CROWDED_POWERS ? [1] : [1, 2, 5];
  return ticks.map((tick) => {
    const power = Math.floor(Math.log10(tick) + 1e-9);
    const digit = Math.round(tick / 10 ** power);
    if (!labelled.includes(digit)) return "";
    return Math.abs(power) > MAX_PLAIN_POWER ? `${digit}e${power}` : String(Number(tick.toPrecision(1)));
  });
}

const MAX_PLAIN_POWER = 4;
