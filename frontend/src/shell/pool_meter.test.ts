import assert from "node:assert/strict";
import { test } from "node:test";
import type { LaneCount, Pool } from "../api/schema.ts";
import { poolUse } from "./pool_meter.tsx";

const count = (state: LaneCount["state"], number: number): LaneCount => ({
  kind: "gpu",
  device: "H100",
  state,
  number,
});
const pool = (num_lanes: number, num_waiting: number, lanes: readonly LaneCount[]): Pool => ({
  name: "default",
  description: "",
  match_labels: {},
  order: 0,
  half_life_hours: 24,
  num_lanes,
  lanes,
  runs: [],
  num_waiting,
  kept_out: [],
});

test("lanes that somebody holds are in use, those that drain too, over all pools", () => {
  const pools = [
    pool(8, 1, [count("allocated", 3), count("draining", 1), count("available", 4)]),
    pool(4, 2, [count("lost", 2), count("allocated", 2)]),
  ];
  assert.deepEqual(poolUse(pools), { numLanes: 12, numInUse: 6, numWaiting: 3 });
});
