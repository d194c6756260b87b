import assert from "node:assert/strict";
import { test } from "node:test";
import { poolGpu, poolNode } from "../../testing/builders.ts";
import type { Key } from "./cells.ts";
import { afterClick, countText, keysOf, NOTHING, numSelected, selectedRows, targetsOf } from "./selection.ts";

const NODES = [poolNode(1), poolNode(2, { gpus: [poolGpu(3), poolGpu(4)], lanes: [] })];
const ORDER = NODES.flatMap(keysOf);
const PLAIN = { toggles: false, extends: false };

test("keys come in the order in which they are drawn, a node before what it has", () => {
  assert.deepEqual(ORDER, ["node:1", "gpu:1", "gpu:2", "lane:9", "node:2", "gpu:3", "gpu:4"]);
});

test("a click selects one, a toggling one adds or removes it", () => {
  const one = afterClick(new Set<Key>(["gpu:1", "gpu:2"]), "gpu:3", PLAIN, null, ORDER);
  assert.deepEqual([...one], ["gpu:3"]);
  const two = afterClick(one, "gpu:4", { ...PLAIN, toggles: true }, "gpu:3", ORDER);
  assert.deepEqual([...two], ["gpu:3", "gpu:4"]);
  assert.deepEqual([...afterClick(two, "gpu:3", { ...PLAIN, toggles: true }, "gpu:4", ORDER)], ["gpu:4"]);
});

test("a stretch reaches over nodes in both directions, and takes no node that it only passes", () => {
  const stretch = { ...PLAIN, extends: true };
  const expected = ["gpu:2", "lane:9", "gpu:3"];
  assert.deepEqual([...afterClick(NOTHING, "gpu:3", stretch, "gpu:2", ORDER)], expected);
  assert.deepEqual([...afterClick(NOTHING, "gpu:2", stretch, "gpu:3", ORDER)], expected);
  assert.deepEqual([...afterClick(NOTHING, "node:2", stretch, "node:1", ORDER)], ["node:1", "node:2"]);
  assert.deepEqual([...afterClick(NOTHING, "gpu:3", stretch, null, ORDER)], ["gpu:3"]);
});

test("an action is sent with the ids of what is selected, and what has left the pool is left out", () => {
  const selected = selectedRows(new Set<Key>(["node:2", "gpu:1", "lane:9", "gpu:99"]), NODES);
  assert.deepEqual(targetsOf(selected), { nodes: [2], gpus: [1], lanes: [9] });
  assert.equal(numSelected(selected), 3);
  assert.equal(countText(selected), "1 node and 1 GPU and 1 lane");
  assert.equal(countText(selectedRows(new Set<Key>(["gpu:1", "gpu:2"]), NODES)), "2 GPUs");
});
