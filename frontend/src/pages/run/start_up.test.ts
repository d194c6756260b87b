import assert from "node:assert/strict";
import { test } from "node:test";
import type { StartStep } from "../../api/schema.ts";
import type { EventItem } from "../../live/item_list.ts";
import { elapsed, laneStarts, slowest, stagesOf, startText } from "./start_up.ts";

let seq = 0;
const step = (at: number, step: StartStep, lanes: readonly string[], attempt = 1): EventItem => ({
  stream_seq: ++seq,
  at,
  attempt,
  type: "lane_start",
  body: { step, lanes },
});

const START = [
  step(100, "requested", ["rollout-0", "trainer-0", "reward-0"]),
  step(102, "placed", ["reward-0", "rollout-0"]),
  step(106, "placed", ["trainer-0"]),
  step(106, "loading", ["rollout-0"]),
  step(106, "loading", ["reward-0"]),
  step(107, "loading", ["trainer-0"]),
  step(110, "ready", ["reward-0"]),
];

test("each lane is as far as its newest event says", () => {
  const starts = laneStarts(START, 1);
  assert.deepEqual(
    starts.map(({ lane, step }) => [lane, step]),
    [
      ["rollout-0", "loading"],
      ["trainer-0", "loading"],
      ["reward-0", "ready"],
    ],
  );
  assert.deepEqual(
    starts.map((start) => elapsed(start, 120)),
    [20, 20, 10],
  );
});

test("the stages of a lane sum to its time", () => {
  const [rollout, , reward] = laneStarts(START, 1);
  assert.ok(rollout && reward);
  assert.deepEqual(stagesOf(rollout, 120), [
    { step: "requested", seconds: 2 },
    { step: "placed", seconds: 4 },
    { step: "loading", seconds: 14 },
  ]);
  assert.deepEqual(
    stagesOf(reward, 120).map(({ seconds }) => seconds),
    [2, 4, 4],
  );
});

test("the lane that is least far holds the start up, and among equals the one that has waited longest", () => {
  assert.equal(slowest(laneStarts(START, 1))?.lane, "rollout-0");
  assert.equal(startText(laneStarts(START, 1), 120), "1 of 3 lanes ready, rollout-0 and 1 more loading for 14 s");
  const placing = laneStarts(START.slice(0, 2), 1);
  assert.equal(startText(placing, 103), "0 of 3 lanes ready, trainer-0 being placed for 3.0 s");
});

test("when all are ready, and before any was asked for, nothing is said", () => {
  assert.equal(startText(laneStarts([...START, step(121, "ready", ["rollout-0", "trainer-0"])], 1), 122), "");
  assert.equal(startText([], 1), "");
});

test("a lane that was lost begins anew, and another attempt's lanes are not this one's", () => {
  const again = laneStarts([...START, step(130, "requested", ["reward-0"])], 1);
  assert.deepEqual(again.at(-1), { lane: "reward-0", step: "requested", at: { requested: 130 } });
  assert.deepEqual(laneStarts(START, 2), []);
});
