import assert from "node:assert/strict";
import { test } from "node:test";
import { differences, getPath, isObject, leaves, sameJson, setPath } from "./paths.ts";

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
  assert.equal(changed.rewards, spec.rewards);
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

test("setting reaches into lists, and never beyond their items", () => {
  const changed = setPath(spec, "rewards.0.weight", 3);
  assert.equal(getPath(changed, "rewards.0.weight"), 3);
  assert.equal(spec.rewards[0]?.weight, 1);
  assert.deepEqual(setPath(spec, "rewards.5.weight", 3).rewards, spec.rewards);
  assert.deepEqual(setPath({ names: ["a", "b"] }, "names.1", "c"), { names: ["a", "c"] });
});

test("a value where a branch is expected gives way to it", () => {
  assert.deepEqual(setPath({ lanes: 3 }, "lanes.num_trainer", 2), { lanes: { num_trainer: 2 } });
});

test("documents are the same when they are written the same", () => {
  assert.ok(sameJson({ a: [1, null] }, { a: [1, null] }));
  assert.ok(!sameJson(0, false));
  assert.ok(!sameJson(null, undefined));
});

test("plain mappings are objects, lists and null are none", () => {
  assert.deepEqual([{}, [], null, 1, "x"].map(isObject), [true, false, false, false, false]);
});

test("differences cover every document, however many there are", () => {
  const found = differences([{ a: 1 }, { a: 1 }, { a: 2 }]);
  assert.deepEqual(found, [{ path: "a", values: [1, 1, 2] }]);
  assert.deepEqual(differences([{ a: { b: 1 } }, { a: { b: 1 } }]), []);
});
