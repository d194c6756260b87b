import assert from "node:assert/strict";
import { test } from "node:test";
import { curveOf } from "../live/growing_curve.ts";
import { series } from "../testing/builders.ts";
import { pointsFor, stepsIn } from "./panel_curves.ts";

test("a panel asks for a point a pixel, in steps that neighbours share", () => {
  assert.deepEqual([1, 250, 251, 640, 1400].map(pointsFor), [250, 250, 500, 750, 1500]);
});

test("a window of any axis is the optimizer steps that hold it", () => {
  const curve = curveOf(series([1, 2, 3, 4, 5]));
  assert.deepEqual(stepsIn(curve, "batch", 0, { from: 2.5, to: 3.5 }), { from_step: 8, to_step: 16 });
  assert.deepEqual(stepsIn(curve, "step", 0, { from: 8, to: 12 }), { from_step: 8, to_step: 12 });
  assert.deepEqual(stepsIn(curve, "wall", 100, { from: 0.5, to: 2.5 }), { from_step: 4, to_step: 16 });
});

test("a window beyond the curve goes from its begin to its end", () => {
  const curve = curveOf(series([1, 2]));
  assert.deepEqual(stepsIn(curve, "batch", 0, { from: -5, to: 50 }), { from_step: 0, to_step: 8 });
});
