import assert from "node:assert/strict";
import { test } from "node:test";
import type { Curve } from "../../live/growing_curve.ts";
import { measuredSeconds, settledMean } from "./plan_history.tsx";

const VALUE = [90, 50, 52, 30, 20, 22];
const CURVE: Curve = {
  batch: [1, 2, 3, 4, 5, 6],
  optimizer_step: [1, 2, 3, 4, 5, 6],
  at: [1, 2, 3, 4, 5, 6],
  value: VALUE,
  min: VALUE,
  max: VALUE,
};

test("a plan is graded by its own batches, without the one that fills the pipeline", () => {
  assert.equal(measuredSeconds(CURVE, { since_batch: 0 }, { since_batch: 3 }), 51);
  assert.equal(measuredSeconds(CURVE, { since_batch: 3 }, undefined), 21);
});

test("a plan without a settled batch has no grade yet", () => {
  assert.equal(measuredSeconds(CURVE, { since_batch: 5 }, undefined), null);
  assert.equal(measuredSeconds(undefined, { since_batch: 0 }, undefined), null);
});

test("rates of equal batches have the harmonic mean", () => {
  assert.equal(settledMean({ ...CURVE, value: [1, 1, 1, 1, 2, 6] }, 3), 3);
});
