import assert from "node:assert/strict";
import { test } from "node:test";
import { sweepOf, sweptPoint } from "../../testing/sweep_builders.ts";
import { axesOf, brushBetween, goodness, isWithin, OBJECTIVE } from "./parallel_axes.ts";

const SWEEP = sweepOf({
  space: {
    "optimizer.learning_rate": { kind: "log_uniform", low: 1e-4, high: 1e-2, num_values: 3 },
    "lora.targets": { kind: "choice", values: [["to_q"], "all", null] },
  },
  points: [
    sweptPoint(1, { "optimizer.learning_rate": 1e-4, "lora.targets": ["to_q"] }, [0.2]),
    sweptPoint(2, { "optimizer.learning_rate": 1e-3, "lora.targets": "all" }, [0.6]),
    sweptPoint(3, { "optimizer.learning_rate": 1e-2, "lora.targets": null }, []),
  ],
});
const [RATE, TARGETS, REWARD] = axesOf(SWEEP);
const close = (found: number | null | undefined, wanted: number) => assert.ok(Math.abs((found ?? -1) - wanted) < 1e-9);

test("an axis is as long as its range, by the logarithm where it is swept so", () => {
  SWEEP.points.forEach((point, index) => {
    close(RATE?.place(point), index / 2);
  });
  assert.deepEqual(
    RATE?.ticks.map(({ label }) => label),
    ["1.0e-4", "0.001", "0.01"],
  );
  assert.equal(RATE?.label, "learning_rate");
});

test("choices stand at equal distances, whatever they are", () => {
  assert.deepEqual(
    SWEEP.points.map((point) => TARGETS?.place(point)),
    [0, 0.5, 1],
  );
  assert.deepEqual(
    TARGETS?.ticks.map(({ label }) => label),
    ['["to_q"]', "all", "null"],
  );
});

test("a point without a value has no place on the axis of the objective, and is within no brush of it", () => {
  assert.deepEqual(
    SWEEP.points.map((point) => REWARD?.place(point)),
    [0, 1, null],
  );
  const brushes = new Map([[OBJECTIVE, [0, 1] as const]]);
  assert.deepEqual(
    SWEEP.points.filter((point) => isWithin(point, axesOf(SWEEP), brushes)).map((point) => point.number),
    [1, 2],
  );
});

test("brushes of several axes keep the points that are within all of them", () => {
  const brushes = new Map([
    ["optimizer.learning_rate", [0.4, 1] as const],
    ["lora.targets", [0, 0.6] as const],
  ]);
  const kept = SWEEP.points.filter((point) => isWithin(point, axesOf(SWEEP), brushes));
  assert.deepEqual(
    kept.map((point) => point.number),
    [2],
  );
});

test("a drag in either direction brushes within the axis, and a click brushes nothing", () => {
  assert.deepEqual(brushBetween(0.8, -0.2), [0, 0.8]);
  assert.equal(brushBetween(0.5, 0.505), null);
});

test("the best point is good, whichever way the objective goes", () => {
  const [first, second] = SWEEP.points;
  const least = sweepOf({ ...SWEEP, maximise: false });
  assert.equal(second && goodness(SWEEP)(second), 1);
  assert.equal(first && goodness(least)(first), 1);
});
