import assert from "node:assert/strict";
import { test } from "node:test";
import type { StartStep } from "../../api/schema.ts";
import type { PanelItem } from "../../live/item_list.ts";
import { elapsed, laneStarts, slowest, stagesOf, startRows, startText } from "./start_up.ts";

let seq = 0;
const step = (at: number, step: StartStep, lanes: readonly string[], attempt = 1): PanelItem => ({
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

test("few lanes have a row each, and of many those of a role that do the same share one, the least far first", () => {
  const rollouts = Array.from({ length: 48 }, (_, index) => `rollout-${index}`);
  const trainers = Array.from({ length: 16 }, (_, index) => `trainer-${index}`);
  const events = [
    step(100, "requested", [...rollouts, ...trainers]),
    step(101, "placed", [...rollouts.slice(1), ...trainers]),
    step(105, "loading", rollouts.slice(1)),
    step(109, "ready", rollouts.slice(40)),
  ];
  const starts = laneStarts(events, 1);
  assert.deepEqual(
    startRows(starts, 120, 8).map(({ label, longest }) => [label, longest.step, elapsed(longest, 120)]),
    [
      ["rollout-0", "requested", 20],
      ["16 trainer lanes", "placed", 20],
      ["39 rollout lanes", "loading", 20],
      ["8 rollout lanes", "ready", 9],
    ],
  );
  assert.deepEqual(
    startRows(starts.slice(0, 3), 120, 8).map(({ label }) => label),
    ["rollout-0", "rollout-1", "rollout-2"],
  );
});
