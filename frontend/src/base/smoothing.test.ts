import assert from "node:assert/strict";
import { test } from "node:test";
import { type Kernel, smooth } from "./smoothing.ts";

const KERNELS: readonly Kernel[] = ["ema", "gaussian"];
const evenly = (count: number, step = 1) => Array.from({ length: count }, (_, index) => index * step);

test("no width changes nothing, nor does a curve of one x", () => {
  assert.deepEqual(smooth([1, null, 3], [0, 1, 2], 0), [1, null, 3]);
  assert.deepEqual(smooth([1], [5], 0.1), [1]);
});

test("a constant curve stays constant from its first point to its last", () => {
  for (const kernel of KERNELS) {
    for (const value of smooth([5, 5, 5, 5], [0, 1, 5, 6], 0.3, kernel)) assert.ok(Math.abs((value ?? 0) - 5) < 1e-12);
  }
});

test("gaps stay gaps and do not reset the average", () => {
  for (const kernel of KERNELS) {
    const [, gap, after] = smooth([0, null, 1], [0, 1, 2], 0.5, kernel);
    assert.equal(gap, null);
    assert.ok((after ?? 0) > 0.3 && (after ?? 0) < 1, `${kernel}: ${after}`);
  }
});

test("a curve read at a quarter of the points is smoothed to the same line", () => {
  const wave = (at: number) => Math.sin(at / 100) + at / 1000;
  for (const kernel of KERNELS) {
    const fine = smooth(evenly(2001).map(wave), evenly(2001), 0.02, kernel);
    const coarse = smooth(evenly(501, 4).map(wave), evenly(501, 4), 0.02, kernel);
    const apart = coarse.slice(25).map((value, index) => Math.abs((value ?? 0) - (fine[4 * (index + 25)] ?? 0)));
    assert.ok(Math.max(...apart) < 0.06, `${kernel}: ${Math.max(...apart)}`);
  }
});

test("a Gaussian looks to both sides, so that a step stays where it is; an average of the past lags", () => {
  const x = evenly(101);
  const step = x.map((at) => (at < 50 ? 0 : 1));
  assert.ok(Math.abs((smooth(step, x, 0.05, "gaussian")[50] ?? 0) - 0.5) < 0.06);
  assert.ok((smooth(step, x, 0.05, "ema")[52] ?? 1) < 0.5);
});
