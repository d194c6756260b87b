import assert from "node:assert/strict";
import { test } from "node:test";
import { lend } from "../../testing/builders.ts";
import { graded, predictionError, quantile, switchBins } from "./lend_measures.ts";

const of = (predicted_gain_seconds: number | null, realised_gain_seconds: number | null) =>
  lend({ predicted_gain_seconds, realised_gain_seconds });

test("only lends with both gains are graded", () => {
  assert.deepEqual(
    graded([of(1, 2), of(null, 2), of(1, null)]).map(({ predicted, realised }) => [predicted, realised]),
    [[1, 2]],
  );
  assert.equal(predictionError([]), null);
});

test("the error tells its direction, its usual size, and how often a gain became a loss", () => {
  assert.deepEqual(predictionError(graded([of(4, 2), of(4, -2), of(1, 1)])), { bias: -8 / 3, median: 2, numLosses: 1 });
});

test("quantiles lie between the values around them", () => {
  assert.equal(quantile([4, 1, 3, 2], 0.5), 2.5);
  assert.equal(quantile([7], 0.9), 7);
});

test("switches are counted by magnitude, each once, with empty bins between", () => {
  const bins = switchBins([0, 1e-4, 1.2, 1.3]);
  assert.equal(
    bins.reduce((sum, { count }) => sum + count, 0),
    4,
  );
  assert.ok(Math.abs((bins[0]?.from ?? 0) - 1e-6) < 1e-12);
  assert.equal(bins.at(-1)?.count, 2);
  assert.ok(bins.some(({ count }) => count === 0));
  assert.deepEqual(switchBins([]), []);
});
