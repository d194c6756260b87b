import assert from "node:assert/strict";
import { test } from "node:test";
import { gpuLive, poolGpu, poolLane, poolNode } from "../../testing/builders.ts";
import { byModel, countsByState, densityOf, laneOf, laneShade, memoryShare, shadeOf, shortModel } from "./cells.ts";

const held = (utilisation: number | null) => poolGpu(1, { state: "allocated", live: gpuLive({ utilisation }) });

test("by state a GPU that is held and idles is hatched, one that works or is free is not", () => {
  assert.equal(shadeOf(held(0), "state"), "allocated hatched");
  assert.equal(shadeOf(held(0.9), "state"), "allocated");
  assert.equal(shadeOf(held(null), "state"), "allocated");
  assert.equal(shadeOf(poolGpu(1, { live: gpuLive({ utilisation: 0 }) }), "state"), "available");
});

test("a held GPU shows what becomes of it, whatever colours it", () => {
  const leaving = { ...held(0.52), state_when_free: "draining" } as const;
  assert.equal(shadeOf(leaving, "state"), "allocated then-kept-back");
  assert.equal(shadeOf(leaving, "utilisation"), "valued percent-50 then-kept-back");
});

test("a value that is not known is hatched and never 0 %", () => {
  assert.equal(shadeOf(held(null), "utilisation"), "unknown hatched");
  assert.equal(shadeOf(poolGpu(1, { live: null }), "memory"), "unknown hatched");
  assert.equal(shadeOf(held(0), "utilisation"), "valued percent-0 hatched");
  assert.equal(laneShade(poolLane(1), "utilisation"), "unknown hatched");
});

test("what is lost looks lost in every colouring", () => {
  const lost = poolGpu(1, { state: "lost", live: gpuLive({ utilisation: 1 }) });
  for (const colouring of ["state", "utilisation", "memory"] as const) {
    assert.equal(shadeOf(lost, colouring), "lost");
  }
});

test("the share of memory is of the card's own", () => {
  assert.equal(memoryShare(poolGpu(1, { live: gpuLive({ memory_used_bytes: 20 * 2 ** 30 }) })), 0.25);
  assert.equal(memoryShare(poolGpu(1, { identity: null, live: gpuLive({ memory_used_bytes: 1 }) })), null);
});

test("cards of a mixed node are grouped by model", () => {
  const gpus = [poolGpu(1), poolGpu(2, { accelerator: "L40S" }), poolGpu(3)];
  const groups = byModel(poolNode(1, { gpus })).map(({ model, gpus: of }) => [model, of.map(({ id }) => id)]);
  assert.deepEqual(groups, [
    ["NVIDIA H100 80GB HBM3", [1, 3]],
    ["L40S", [2]],
  ]);
});

test("a GPU's lane is found by its label, and none is not the lane without one", () => {
  const node = poolNode(1);
  const [first] = node.gpus;
  assert.ok(first);
  assert.equal(laneOf(node, first)?.id, 11);
  assert.equal(laneOf(node, { ...first, lane: "" }), undefined);
});

test("model names are shortened to what tells cards apart", () => {
  assert.equal(shortModel("NVIDIA H100 80GB HBM3"), "H100 80GB");
  assert.equal(shortModel("NVIDIA A100-SXM4-80GB"), "A100 80GB");
  assert.equal(shortModel("NVIDIA GeForce RTX 4090"), "RTX 4090");
  assert.equal(shortModel("AMD Instinct MI300X"), "MI300X");
  assert.equal(shortModel(""), "");
});

test("GPUs are counted by state, CPU lanes where there is no GPU", () => {
  const node = poolNode(1, { gpus: [poolGpu(1), poolGpu(2, { state: "lost" })] });
  assert.deepEqual(
    [...countsByState([node])],
    [
      ["available", 1],
      ["lost", 1],
    ],
  );
  assert.deepEqual([...countsByState([poolNode(1, { gpus: [] })])], [["available", 1]]);
});

test("cells shrink as the pool grows", () => {
  const pool = (number: number) =>
    Array.from({ length: number }, (_, id) =>
      poolNode(id, { gpus: Array.from({ length: 8 }, (_, gpu) => poolGpu(gpu)) }),
    );
  assert.deepEqual(
    [1, 8, 64].map((number) => densityOf(pool(number))),
    ["roomy", "medium", "dense"],
  );
});

test("a GPU that is not healthy is marked", () => {
  assert.equal(shadeOf(poolGpu(1, { health: "warning" }), "state"), "available health-warning");
});
