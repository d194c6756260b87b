/** Smoothing of curves by distance on their x axis, so that a curve looks the same however finely it was read and however
 * unevenly it was reported. Gaps (null) stay gaps. */

export type Kernel = "ema" | "gaussian";
export type Values = readonly (number | null)[];

/** `values` smoothed by a kernel whose width is `share` of the range of `x`, which rises; 0 returns the values themselves. */
export function smooth(values: Values, x: readonly number[], share: number, kernel: Kernel = "ema"): (number | null)[] {
  const width = share * ((x.at(-1) ?? 0) - (x[0] ?? 0));
  if (!(width > 0)) return values.slice();
  return kernel === "ema" ? movingAverage(values, x, width) : gaussian(values, x, width);
}

/** Bias-corrected exponential moving average of what came before, a point counting by the stretch that it ends: the
 * past's weight falls by e for each `width`. */
function movingAverage(values: Values, x: readonly number[], width: number): (number | null)[] {
  let [average, kept, before] = [0, 0, Number.NaN];
  return values.map((value, index) => {
    const at = x[index] ?? 0;
    if (value === null || !Number.isFinite(value)) return null;
    // The first point has no stretch of its own; alone, it is the average whatever it weighs.
    const past = Number.isNaN(before) ? 0.5 : Math.exp(-(at - before) / width);
    before = at;
    average = past * average + (1 - past) * value;
    kept = past * kept + (1 - past);
    return kept > 0 ? average / kept : value;
  });
}

/** Beyond so many standard deviations a Gaussian weighs less than a hundredth. */
const REACH = 3;

/** The average of both sides, weighted by a Gaussian of standard deviation `width`. */
function gaussian(values: Values, x: readonly number[], width: number): (number | null)[] {
  let first = 0;
  return values.map((value, index) => {
    if (value === null || !Number.isFinite(value)) return null;
    const at = x[index] ?? 0;
    while ((x[first] ?? 0) < at - REACH * width) first += 1;
    let [total, weights] = [0, 0];
    for (let other = first; other < x.length && (x[other] ?? 0) <= at + REACH * width; other += 1) {
      const near = values[other];
      if (near === null || near === undefined || !Number.isFinite(near)) continue;
      const weight = Math.exp(-0.5 * (((x[other] ?? 0) - at) / width) ** 2);
      total += weight * near;
      weights += weight;
    }
    return total / weights;
  });
}
