/** One curve that grows: what REST said of it up to a number of the stream, and the points that the socket sent since. */

import type { Series, StreamItem } from "../api/schema.ts";

/** Columns of one length. */
export type Curve = { readonly [Column in keyof Series]: number[] };

/** A curve is dropped at this many times the points asked for, and read again by whoever shows it. It is read anew at
 * half of that: only where such reads fail does it come so far. */
const DROPPED_AT = 4;

/** Points of a curve that is shown as a figure or in a small chart. */
export const OVERVIEW_POINTS = 500;

export class GrowingCurve {
  readonly curve: Curve;

  /** `numAsked`: the most points it was read with; `covered`: number of the newest item in it. */
  constructor(
    series: Series,
    readonly numAsked: number,
    private covered: number,
  ) {
    this.curve = curveOf(series);
    this.isThinned = series.value.length >= numAsked;
  }

  /** Whether the server has finer points than these. */
  readonly isThinned: boolean;

  get isLong(): boolean {
    return this.curve.batch.length > 2 * this.numAsked;
  }

  get isOverlong(): boolean {
    return this.curve.batch.length > DROPPED_AT * this.numAsked;
  }

  /** Apply an item that is not in it yet; `value` is the metric's, if the item has one. */
  apply(item: StreamItem, value: number | undefined): void {
    if (item.stream_seq <= this.covered) return;
    this.covered = item.stream_seq;
    if (item.type === "resumed") this.dropAfter(item.body.batch);
    if (item.type !== "metrics" || value === undefined) return;
    const { batch, optimizer_step } = item.body;
    this.put({ batch, optimizer_step, at: item.at, value, min: value, max: value });
  }

  /** A value reported again for the same batch and step replaces the first. */
  private put(point: { [Column in keyof Series]: number }): void {
    const { curve } = this;
    const last = curve.batch.length - 1;
    const isRepeat = curve.batch[last] === point.batch && curve.optimizer_step[last] === point.optimizer_step;
    const index = isRepeat ? last : last + 1;
    for (const column of Object.keys(point) as (keyof Series)[]) curve[column][index] = point[column];
  }

  /** A resumed attempt goes on after `batch`: later points of the attempt before are superseded. */
  private dropAfter(batch: number): void {
    const keep = this.curve.batch.findIndex((candidate) => candidate > batch);
    if (keep < 0) return;
    for (const column of Object.values(this.curve)) column.length = keep;
  }
}

/** A copy of a curve that may grow. */
export function curveOf(series: Series): Curve {
  const { batch, optimizer_step, at, value, min, max } = series;
  return {
    batch: [...batch],
    optimizer_step: [...optimizer_step],
    at: [...at],
    value: [...value],
    min: [...min],
    max: [...max],
  };
}

/** A curve with a window of it replaced by finer points. */
export function spliced(curve: Curve, finer: Curve): Curve {
  const [from, to] = [finer.optimizer_step[0], finer.optimizer_step.at(-1)];
  if (from === undefined || to === undefined) return curve;
  const steps = curve.optimizer_step;
  const end = steps.findIndex((step) => step > to);
  const begin = steps.findIndex((step) => step >= from);
  const around = (column: keyof Series) => [
    ...curve[column].slice(0, begin < 0 ? undefined : begin),
    ...finer[column],
    ...(end < 0 ? [] : curve[column].slice(end)),
  ];
  return {
    batch: around("batch"),
    optimizer_step: around("optimizer_step"),
    at: around("at"),
    value: around("value"),
    min: around("min"),
    max: around("max"),
  };
}
