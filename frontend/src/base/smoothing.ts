/** Exponential smoothing for curves. */

/** Bias-corrected exponential moving average of `values`; gaps (null) stay gaps and do not reset the average.
 * `weight` in [0, 1): the share kept of the past at each point; 0 returns the values themselves. */
export function smooth(values: readonly (number | null)[], weight: number): (number | null)[] {
  if (weight <= 0) return values.slice();
  let average = 0;
  let kept = 0;
  return values.map((value) => {
    if (value === null || !Number.isFinite(value)) return null;
    average = weight * average + (1 - weight) * value;
    kept = weight * kept + (1 - weight);
    return average / kept;
  });
}
