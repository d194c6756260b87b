import assert from "node:assert/strict";
import { test } from "node:test";
import { poolLane, poolNode } from "../../testing/builders.ts";
import { type AskedLanes, afterPress, askedLanes, counted, countKinds, isFree, nodesOf } from "./lane_offer.ts";

const gpu = (id: number, more: Parameters<typeof poolLane>[1] = {}) =>
  poolLane(id, { kind: "gpu", device: "NVIDIA H100 80GB HBM3", ...more });
const HELD = { state: "allocated", held_since: "2026-01-01T00:00:00Z" } as const;
const LANES = [gpu(1), gpu(2), gpu(3, HELD), gpu(4, { state: "cordoned", takes_work: false }), poolLane(9)];

function asked(rollout: number, trainer: number, reward = 1, rewardsOnGpus = false): AskedLanes {
  return { pool: "default", numbers: { rollout, trainer, reward }, rewardsOnGpus };
}

test("what is held or cordoned is not free", () => {
  assert.deepEqual(
    LANES.filter(isFree).map(({ id }) => id),
    [1, 2, 9],
  );
});

test("lanes are counted by the kind that dispatch would give each role", () => {
  assert.deepEqual(countKinds(LANES, asked(2, 1)), [
    { kind: "gpu", asked: 3, free: 2, all: 4 },
    { kind: "cpu", asked: 1, free: 1, all: 1 },
  ]);
  assert.deepEqual(countKinds(LANES, asked(2, 1, 1, true)), [{ kind: "gpu", asked: 4, free: 2, all: 4 }]);
  assert.deepEqual(countKinds([poolLane(9)], asked(1, 1)), [{ kind: "cpu", asked: 3, free: 1, all: 1 }]);
});

test("trainer lanes are counted first, and no more than are free", () => {
  assert.deepEqual(
    [...counted(LANES, asked(5, 1))],
    [
      [1, "trainer"],
      [2, "rollout"],
      [9, "reward"],
    ],
  );
});

test("pressing a free lane adds one of the role, pressing a counted one takes it away", () => {
  const [first, second, held, , cpu] = LANES as [
    (typeof LANES)[0],
    (typeof LANES)[0],
    (typeof LANES)[0],
    unknown,
    (typeof LANES)[0],
  ];
  assert.deepEqual(afterPress(second, "rollout", LANES, asked(0, 1)), { role: "rollout", number: 1 });
  assert.deepEqual(afterPress(second, "trainer", LANES, asked(1, 1)), { role: "rollout", number: 0 });
  assert.deepEqual(afterPress(first, "rollout", LANES, asked(1, 1)), { role: "trainer", number: 1 }, "a run has one");
  assert.equal(afterPress(held, "rollout", LANES, asked(0, 1)), null);
  assert.equal(afterPress(cpu, "rollout", LANES, asked(0, 1, 0)), null, "the pool has GPUs to generate on");
});

test("a node stands in the pool with its lanes of it alone", () => {
  const node = poolNode(1, { lanes: [poolLane(1), poolLane(2, { pool: "fast" })] });
  assert.deepEqual(
    nodesOf([node], "fast").map(({ lanes }) => lanes.map(({ id }) => id)),
    [[2]],
  );
  assert.deepEqual(nodesOf([node], "none"), []);
});

test("a number that is not typed yet asks for no lane", () => {
  const spec = { lanes: { num_rollout: "", num_trainer: 2, num_reward: 1, pool: "fast" } };
  assert.deepEqual(askedLanes(spec), {
    pool: "fast",
    numbers: { rollout: 0, trainer: 2, reward: 1 },
    rewardsOnGpus: false,
  });
});
