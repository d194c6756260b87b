/** How fast the run goes by its newest batches, and when it is expected to end. Pure. */

import type { MetricStore } from "../../live/metric_store.ts";

/** Few enough to follow a resize, enough that one slow batch does not decide. */
export const BATCHES_AVERAGED = 8;

export interface Pace {
  readonly numBatches: number;
  /** Mean wall time of a batch. */
  readonly batchSeconds: number;
  /** Standard error of that mean; null for a single batch. */
  readonly errorSeconds: number | null;
  readonly samplesPerSecond: number;
  /** Unix time at which the newest batch ended. */
  readonly at: number;
}

export interface ExpectedEnd {
  /** Unix time. */
  readonly at: number;
  /** Plus or minus; null where one batch tells no range. */
  readonly rangeSeconds: number | null;
}

/** Null before the first batch. */
export function paceOf(metrics: MetricStore): Pace | null {
  const curve = metrics.curve("speed/batch_seconds");
  const rateCurve = metrics.curve("speed/images_per_second");
  // By number, since a long curve comes with a point for many batches.
  const first = (curve?.batch.at(-1) ?? 0) - BATCHES_AVERAGED;
  const newest = (_: number, index: number) => (curve?.batch[index] ?? 0) > first;
  const seconds = curve?.value.filter(newest) ?? [];
  const rates = rateCurve?.value.filter(newest) ?? [];
  const at = curve?.at.at(-1);
  if (at === undefined || seconds.length === 0 || rates.length !== seconds.length) return null;
  const all = sum(seconds);
  const mean = all / seconds.length;
  const variance = sum(seconds.map((one) => (one - mean) ** 2)) / (seconds.length - 1);
  return {
    numBatches: seconds.length,
    batchSeconds: mean,
    errorSeconds: seconds.length > 1 ? Math.sqrt(variance / seconds.length) : null,
    samplesPerSecond: sum(rates.map((rate, index) => rate * (seconds[index] ?? 0))) / all,
    at,
  };
}

/** `numLeft`: batches to go after the newest one. The range is two standard errors of the mean. */
export function expectedEnd({ at, batchSeconds, errorSeconds }: Pace, numLeft: number): ExpectedEnd {
  return {
    at: at + numLeft * batchSeconds,
    rangeSeconds: errorSeconds === null ? null : 2 * numLeft * errorSeconds,
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}
