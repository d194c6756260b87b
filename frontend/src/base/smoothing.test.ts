import assert from "node:assert/strict";
import { test } from "node:test";
import { smooth } from "./smoothing.ts";

test("weight 0 changes nothing", () => {
  assert.deepEqual(smooth([1, null, 3], 0), [1, null, 3]);
});

test("a constant curve stays constant from its first point: the average is bias-corrected", () => {
  for (const value of smooth([5, 5, 5, 5], 0.9)) assert.ok(Math.abs((value ?? 0) - 5) < 1e-12);
});

test("gaps stay gaps and do not reset the average", () => {
  const [, gap, after] = smooth([0, null, 1], 0.5);
  assert.equal(gap, null);
  assert.ok((after ?? 0) > 0.5 && (after ?? 0) < 1);
});
