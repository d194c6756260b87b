import assert from "node:assert/strict";
import { test } from "node:test";
import type { PoolChangedFrame, PoolNode } from "../api/schema.ts";
import { gpuLive, poolFrame, poolGpu, poolNode } from "../testing/builders.ts";
import { liveRows, withLive, withRead } from "./pool_rows.ts";

const AT = Date.parse("2026-01-01T00:00:03Z") / 1000;
/** The nodes with a frame's live values. */
function after(nodes: readonly PoolNode[], frame: Partial<PoolChangedFrame>, ...part: number[]): readonly PoolNode[] {
  const live = liveRows(poolFrame({ reported_at: AT, ...frame }));
  assert.ok(live);
  return withLive(nodes, live, ...part);
}

const NODES = [poolNode(1), poolNode(2, { gpus: [poolGpu(3)] })];

test("a frame's columns become the live values of its GPUs, with when they were reported", () => {
  const gpus = { ids: [2], values: { utilisation: [0.5], power: [null] } };
  const [first, second] = after(NODES, { gpus });
  assert.deepEqual([first?.gpus[1]?.live?.utilisation, first?.gpus[1]?.live?.power], [0.5, null]);
  assert.equal(first?.gpus[1]?.reported_at, "2026-01-01T00:00:03.000Z");
  assert.equal(first?.gpus[0], NODES[0]?.gpus[0]);
  assert.equal(second, NODES[1]);
});

test("a node that Ray counts as alive is so without a report of its own watcher", () => {
  const [first, second] = after(NODES, { alive: [2] });
  assert.equal(first, NODES[0]);
  assert.equal(second?.in_cluster_at, "2026-01-01T00:00:03.000Z");
  assert.equal(second?.reported_at, "2026-01-01T00:00:00Z");
});

test("load and memory of a node come with its report", () => {
  const nodes = { ids: [1], values: { load: [9], memory_used_bytes: [7] } };
  const [first] = after(NODES, { nodes });
  assert.deepEqual([first?.load, first?.memory_used_bytes, first?.reported_at], [9, 7, "2026-01-01T00:00:03.000Z"]);
});

test("a frame without a report has no live values, nor has an empty one", () => {
  assert.equal(liveRows(poolFrame({ changed: [1] })), null);
  assert.equal(liveRows(poolFrame({ reported_at: AT })), null);
});

test("live values are put into some of the nodes at a time", () => {
  const [first, second] = after(NODES, { alive: [1, 2] }, 1, 1);
  assert.equal(first, NODES[0]);
  assert.equal(second?.in_cluster_at, "2026-01-01T00:00:03.000Z");
});

test("nodes read again take their places, those that are gone leave, new ones come by name", () => {
  const read = [poolNode(2, { state: "draining" }), poolNode(3, { name: "alpha" })];
  const listed = withRead(NODES, read, new Set([1, 2, 3]));
  assert.deepEqual(
    listed.map(({ name, state }) => [name, state]),
    [
      ["alpha", "available"],
      ["gpu1", "draining"],
    ],
  );
  assert.deepEqual(
    withRead(NODES, [poolNode(2)], null).map(({ id }) => id),
    [2],
  );
});

test("an answer that was under way does not undo the values of a frame that overtook it", () => {
  const newer = poolGpu(1, { live: gpuLive({ power: 200 }), reported_at: "2026-01-01T00:00:03Z" });
  const known = [poolNode(1, { gpus: [newer] })];
  const read = [poolNode(1, { gpus: [poolGpu(1, { state: "allocated" })] })];
  const [gpu] = withRead(known, read, null)[0]?.gpus ?? [];
  assert.deepEqual([gpu?.live?.power, gpu?.state], [200, "allocated"]);
});

test("nodes are in the order in which people count", () => {
  const names = ["gpu10", "gpu9", "gpu1"].map((name, id) => poolNode(id, { name }));
  assert.deepEqual(
    withRead([], names, null).map(({ name }) => name),
    ["gpu1", "gpu9", "gpu10"],
  );
});
