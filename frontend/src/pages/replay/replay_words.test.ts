import assert from "node:assert/strict";
import { test } from "node:test";
import type { Replay } from "../../api/schema.ts";
import { AS_IT_WAS, changeOf, classRows, errorText, isBeyondError, requestOf } from "./replay_words.ts";

const schedule = (seconds: number, lane_seconds: Record<string, number>) => ({
  seconds,
  batch_seconds: [seconds / 2, seconds / 2],
  lane_seconds,
  spans: [],
});

const replay = {
  first_batch: 1,
  num_batches: 2,
  num_batches_drawn: 2,
  measured: schedule(10, { train: 8, "idle:drain": 12 }),
  own: schedule(10.2, { train: 8, "idle:drain": 12.4, pull: 0.001 }),
  chosen: schedule(8, { train: 8, "idle:drain": 8, pull: 0.001 }),
  errors: { recorded: 0.02, costs: -0.03 },
  spec: {},
  warnings: [],
} as unknown as Replay;

test("only what differs from what was is asked for", () => {
  assert.deepEqual(requestOf(AS_IT_WAS), {});
  const chosen = { ...AS_IT_WAS, gap: "false", num_rollout: "3", tag: "greedy" };
  assert.deepEqual(requestOf(chosen), { gap: false, num_rollout: 3, tag: "greedy" });
});

test("the error says which way a replay is off", () => {
  assert.equal(errorText(0.031), "3.1 % slower than measured");
  assert.equal(errorText(-0.031), "3.1 % faster than measured");
  assert.match(errorText(0.0001), /^within/);
});

test("a change is compared with the replay as it ran, and called one only beyond the error", () => {
  assert.equal(changeOf(replay), 8 / 10.2 - 1);
  assert.equal(isBeyondError(replay), true);
  assert.equal(isBeyondError({ ...replay, errors: { recorded: 0, costs: 0.3 } }), false);
});

test("lane time is that of a batch, what changes most first, without what is next to nothing", () => {
  assert.deepEqual(classRows(replay), [
    { name: "idle:drain", measured: 6, own: 6.2, chosen: 4 },
    { name: "train", measured: 4, own: 4, chosen: 4 },
  ]);
});
