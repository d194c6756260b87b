/** How well lends were predicted, and what switching cost. Pure. */

import type { Lend } from "../../api/schema.ts";

export interface GradedLend {
  readonly lend: Lend;
  readonly predicted: number;
  readonly realised: number;
}

/** The lends that have both a predicted and a realised gain. */
export function graded(lends: readonly Lend[]): GradedLend[] {
  return lends.flatMap((lend) => {
    const { predicted_gain_seconds: predicted, realised_gain_seconds: realised } = lend;
    return predicted === null || realised === null ? [] : [{ lend, predicted, realised }];
  });
}

export interface PredictionError {
  /** Mean of realised less predicted: below zero where gains were promised too high. */
  readonly bias: number;
  /** Median of its absolute value. */
  readonly median: number;
  /** Lends that were predicted to gain and lost. */
  readonly numLosses: number;
}

/** Null without graded lends. */
export function predictionError(lends: readonly GradedLend[]): PredictionError | null {
  if (lends.length === 0) return null;
  const errors = lends.map(({ predicted, realised }) => realised - predicted);
  return {
    bias: errors.reduce((sum, error) => sum + error, 0) / errors.length,
    median: quantile(errors.map(Math.abs), 0.5),
    numLosses: lends.filter(({ predicted, realised }) => predicted > 0 && realised < 0).length,
  };
}

/** By linear interpolation between order statistics; `values` must not be empty. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const place = share * (sorted.length - 1);
  const below = sorted[Math.floor(place)] ?? Number.NaN;
  return below + (place - Math.floor(place)) * ((sorted[Math.ceil(place)] ?? below) - below);
}

export interface Bin {
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

/** Bins a decade, of equal width on a logarithmic axis. */
const BINS_PER_DECADE = 4;
/** Shorter switches count as so long: the ledger of bubbles takes less time for none at all. */
const LEAST_SECONDS = 1e-6;

/** Seconds by their magnitude: switches take microseconds on one process to minutes of loading. Empty bins between others stand. */
export function switchBins(seconds: readonly number[]): Bin[] {
  if (seconds.length === 0) return [];
  const numbers = seconds.map((one) => Math.floor(BINS_PER_DECADE * Math.log10(Math.max(one, LEAST_SECONDS))));
  const first = Math.min(...numbers);
  const edge = (number: number) => 10 ** (number / BINS_PER_DECADE);
  return Array.from({ length: Math.max(...numbers) - first + 1 }, (_, index) => ({
    from: edge(first + index),
    to: edge(first + index + 1),
    count: numbers.filter((number) => number === first + index).length,
  }));
}
