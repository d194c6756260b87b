import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pool } from "../../api/schema.ts";
import { specSchema } from "../../testing/committed.ts";
import { POOL_PATH, withPools } from "./pool_choices.ts";

const SCHEMA = specSchema().at(POOL_PATH);

function pool(name: string, more: Partial<Pool> = {}): Pool {
  return {
    name,
    description: "",
    match_labels: {},
    order: 1,
    half_life_hours: 24,
    num_lanes: 0,
    lanes: [],
    runs: [],
    num_waiting: 0,
    kept_out: [],
    ...more,
  };
}

test("pools are offered with their lanes and how many runs wait", () => {
  const lanes = [
    { kind: "gpu", device: "H100", state: "available", number: 3 },
    { kind: "gpu", device: "H100", state: "allocated", number: 5 },
    { kind: "cpu", device: "cpu", state: "available", number: 4 },
  ] as const;
  const fast = pool("fast", { description: "New cards.", lanes, num_waiting: 2 });
  const { type, choices } = withPools(SCHEMA, [fast, pool("default")], "mine", "fast");
  assert.equal(type, "choice");
  assert.deepEqual(choices, [
    { value: "fast", help: "New cards: 8 H100, 4 cpu; 2 waiting." },
    { value: "default", help: "no lanes; 0 waiting." },
  ]);
});

test("a pool that the project is kept out of says so", () => {
  const { choices } = withPools(SCHEMA, [pool("fast", { kept_out: ["mine"] })], "mine", "fast");
  assert.equal(choices[0]?.help, "The project may not use this pool.");
});

test("a pool that is gone stays chosen and says so", () => {
  const { choices } = withPools(SCHEMA, [pool("default")], "mine", "gone");
  assert.deepEqual(choices.at(-1), { value: "gone", help: "There is no such pool." });
});

test("until the pools are known a name can be written", () => {
  assert.equal(withPools(SCHEMA, [], "mine", "default").type, "string");
});
