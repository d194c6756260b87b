import assert from "node:assert/strict";
import { test } from "node:test";
import { opacityOf } from "./heat_map.tsx";

test("an empty cell has no colour, the faintest other one is seen, the fullest is full", () => {
  assert.deepEqual([opacityOf(0, 10), opacityOf(0, 0), opacityOf(10, 10)], [0, 0, 1]);
  assert.ok(opacityOf(0.001, 10) > 0.1);
});

test("more trajectories are never fainter", () => {
  const opacities = Array.from({ length: 21 }, (_, value) => opacityOf(value, 20));
  assert.deepEqual(
    opacities,
    opacities.toSorted((a, b) => a - b),
  );
});
