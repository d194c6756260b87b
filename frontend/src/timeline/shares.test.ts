import assert from "node:assert/strict";
import { test } from "node:test";
import { bubbleSums } from "../testing/committed.ts";
import { busyShare, isIdle, largestLoss, ordered, roles, total } from "./shares.ts";

const BUBBLES = {
  total_seconds: 100,
  by_lane: {},
  stream_seq: 1,
  by_class: { train: 30, generate: 20, "idle:publish_wait": 10, "idle:start_up": 40 },
  by_role: {
    reward: { "idle:no_fragment_ready": 50 },
    rollout: { generate: 20, "idle:publish_wait": 10 },
    trainer: { train: 30, "idle:start_up": 40 },
  },
};

test("shares are the bubble ledger's, of every lane and of all together", () => {
  const expected = bubbleSums();
  for (const [lane, classes] of Object.entries(expected.by_lane)) {
    const busy = expected.busy_share_by_lane[lane] ?? Number.NaN;
    assert.ok(Math.abs(busyShare(classes) - busy) < 1e-12, lane);
  }
  assert.ok(Math.abs(busyShare(expected.by_class) - expected.busy_share) < 1e-12);
});

test("totals are the bubble ledger's", () => {
  const expected = bubbleSums();
  assert.equal(total(expected.by_class), expected.total_seconds);
  const lanes = Object.values(expected.by_lane).map(total);
  assert.equal(
    lanes.reduce((sum, seconds) => sum + seconds, 0),
    expected.total_seconds,
  );
});

test("work comes before idling, and the longest idling first", () => {
  assert.deepEqual(
    ordered(BUBBLES.by_class).map(([name]) => name),
    ["generate", "train", "idle:start_up", "idle:publish_wait"],
  );
});

test("what no span covers comes last, and classes without time not at all", () => {
  assert.deepEqual(
    ordered({ unaccounted: 99, "idle:drain": 1, pull: 0 }).map(([name]) => name),
    ["idle:drain", "unaccounted"],
  );
});

test("idle time and what no span covers are not busy, and where no time has passed nobody was", () => {
  assert.equal(busyShare(BUBBLES.by_class), 0.5);
  assert.equal(busyShare({ train: 1, unaccounted: 3 }), 0.25);
  assert.equal(busyShare({}), 0);
  assert.ok(isIdle("idle:drain") && !isIdle("train") && !isIdle("unaccounted"));
});

test("a pause is neither busy nor idle", () => {
  assert.equal(busyShare({ train: 30, "idle:publish_wait": 10, pause: 60 }), 0.75);
  assert.equal(busyShare({ pause: 60 }), 0);
});

test("the largest loss is neither a run's beginning nor a reward lane's waiting", () => {
  const loss = largestLoss(BUBBLES);
  assert.deepEqual([loss?.role, loss?.name, loss?.share], ["rollout", "idle:publish_wait", 10 / 30]);
  assert.equal(loss?.label, "Idle: waiting for a new version");
  assert.equal(largestLoss({ ...BUBBLES, by_role: { trainer: { train: 1 } } }), null);
});

test("of several losses the larger one is named", () => {
  const by_role = {
    trainer: { "idle:head_of_line": 5, "idle:batch_barrier": 15 },
    rollout: { "idle:publish_wait": 9 },
  };
  assert.equal(largestLoss({ ...BUBBLES, by_role })?.name, "idle:batch_barrier");
});

test("roles stand as the timeline shows them", () => {
  assert.deepEqual(
    roles(BUBBLES).map(([role]) => role),
    ["trainer", "rollout", "reward"],
  );
  assert.deepEqual(
    roles({ ...BUBBLES, by_role: { driver: {}, trainer: {} } }).map(([role]) => role),
    ["trainer", "driver"],
  );
});
