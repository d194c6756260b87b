import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunState } from "../../api/schema.ts";
import { statesAhead, stepsOf } from "./steps.ts";

const RUN = { created_at: "1970-01-01T00:00:00Z" };
const move = (old: string, to: RunState, second: number, reason = "") => ({
  old,
  new: to,
  reason,
  at: new Date(second * 1000).toISOString(),
});

test("a step lasts until the next one begins", () => {
  const steps = stepsOf(RUN, [move("", "queued", 0), move("queued", "starting", 5), move("starting", "running", 9)]);
  assert.deepEqual(
    steps.map(({ state, at, until }) => [state, at, until]),
    [
      ["queued", 0, 5],
      ["starting", 5, 9],
      ["running", 9, null],
    ],
  );
});

test("each start counts its attempt, and one from the midst of work is a setback", () => {
  const steps = stepsOf(RUN, [
    move("queued", "starting", 0),
    move("starting", "running", 1),
    move("running", "starting", 2, "the driver was lost"),
  ]);
  assert.deepEqual(
    steps.map(({ attempt, isSetback }) => [attempt, isSetback]),
    [
      [1, false],
      [null, false],
      [2, true],
    ],
  );
  assert.equal(steps[2]?.reason, "the driver was lost");
});

test("a run without transitions was queued when it was made", () => {
  assert.deepEqual(
    stepsOf(RUN, []).map(({ state, at }) => [state, at]),
    [["queued", 0]],
  );
});

test("what lies ahead is the usual course, from an unusual state only the end, after the end nothing", () => {
  assert.deepEqual(statesAhead({ state: "queued" }), ["starting", "running", "completed"]);
  assert.deepEqual(statesAhead({ state: "running" }), ["completed"]);
  assert.deepEqual(statesAhead({ state: "paused" }), ["completed"]);
  assert.deepEqual(statesAhead({ state: "stopping" }), ["stopped"]);
  assert.deepEqual(statesAhead({ state: "stopped" }), []);
  assert.deepEqual(statesAhead({ state: "failed" }), []);
});
