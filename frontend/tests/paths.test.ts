import assert from "node:assert/strict";
import { test } from "node:test";
import { differences, getPath, leaves, setPath } from "../src/base/paths.ts";

const spec = { batch: { group_size: 8, fragment_size: null }, rewards: [{ name: "a", weight: 1 }], seed: 0 };

test("a path reaches into objects and lists", () => {
  assert.equal(getPath(spec, "batch.group_size"), 8);
  assert.equal(getPath(spec, "rewards.0.weight"), 1);
  assert.equal(getPath(spec, "batch.nothing.deeper"), undefined);
});

test("setting copies the branch and shares the rest", () => {
  const changed = setPath(spec, "batch.group_size", 16);
  assert.equal(getPath(changed, "batch.group_size"), 16);
  assert.equal(spec.batch.group_size, 8);
  assert.equal(changed["rewards"], spec.rewards);
});

test("setting makes missing branches, undefined removes a key", () => {
  assert.deepEqual(setPath({}, "lanes.num_trainer", 2), { lanes: { num_trainer: 2 } });
  assert.deepEqual(setPath({ a: 1, b: 2 }, "a", undefined), { b: 2 });
});

test("a list is one leaf", () => {
  assert.deepEqual([...leaves(spec).keys()], ["batch.group_size", "batch.fragment_size", "rewards", "seed"]);
});

test("only paths on which documents disagree are listed, absent values included", () => {
  const found = differences([spec, { ...spec, seed: 3, extra: true }]);
  assert.deepEqual(found, [
    { path: "seed", values: [0, 3] },
    { path: "extra", values: [undefined, true] },
  ]);
});
