import assert from "node:assert/strict";
import { test } from "node:test";
import { bubbleSums } from "../testing/committed.ts";
import { SPAN_CLASSES } from "./classes.ts";
import { busyShare, PAUSE, unpaused } from "./shares.ts";
import { waterfallOf } from "./waterfall.ts";

const NAMES = [
  ...SPAN_CLASSES.map(({ kind }) => kind).filter((kind) => kind !== "idle"),
  ...["start_up", "drain", "group_incomplete", "back_pressure"].map((cause) => `idle:${cause}`),
  "unaccounted",
];
const NUM_CASES = 500;

/** Lane time of some classes from microseconds to weeks: a linear congruential generator, the same in every run. */
function* someLaneTime(): Generator<Record<string, number>> {
  let state = 20_260_101;
  const next = () => {
    state = (1_664_525 * state + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
  for (let number = 0; number < NUM_CASES; number += 1) {
    const names = NAMES.filter(() => next() < 0.5);
    yield Object.fromEntries(names.map((name) => [name, 10 ** (12 * next() - 6)]));
  }
}

test("whatever lanes did, each part begins where the one before ended, and all but pauses is taken", () => {
  for (const classes of someLaneTime()) {
    const { paused, lost, worked, remaining, total: all } = waterfallOf(classes);
    const falls = [...lost, ...worked];
    assert.equal(falls.length + Number(paused > 0), Object.keys(classes).length);
    assert.equal(paused, classes[PAUSE] ?? 0);
    if (falls.length === 0) continue;
    assert.equal(all, unpaused(classes));
    assert.deepEqual([falls[0]?.before, falls.at(-1)?.after], [1, 0]);
    falls.forEach(({ name, seconds, before, after }, index) => {
      assert.equal(seconds, classes[name]);
      assert.equal(before, falls[index - 1]?.after ?? 1);
      assert.ok(Math.abs(before - after - seconds / all) < 1e-12, name);
    });
    assert.equal(remaining, worked[0]?.before ?? 0);
    // A small share is what is left of a large one: it is as exact as that.
    assert.ok(Math.abs(remaining - busyShare(classes)) < 1e-12);
  }
});

test("the parts are those of the bubble ledger, and what remains for work is its busy share", () => {
  const { by_class, total_seconds, busy_share } = bubbleSums();
  const { paused, lost, worked, remaining, total: all } = waterfallOf(by_class);
  assert.equal(all + paused, total_seconds);
  const parts = Object.fromEntries([...lost, ...worked].map(({ name, seconds }) => [name, seconds]));
  assert.deepEqual({ ...parts, [PAUSE]: paused }, by_class);
  assert.ok(Math.abs(remaining - busy_share) < 1e-12);
});

test("pauses are left out; first comes idleness, the longest first, then what no span covers, then work", () => {
  const classes = { train: 5, unaccounted: 9, "idle:drain": 1, generate: 20, pause: 2, "idle:start_up": 3, pull: 0 };
  const { paused, lost, worked, remaining } = waterfallOf(classes);
  assert.equal(paused, 2);
  assert.deepEqual(
    lost.map(({ name }) => name),
    ["idle:start_up", "idle:drain", "unaccounted"],
  );
  assert.deepEqual(
    worked.map(({ name }) => name),
    ["generate", "train"],
  );
  assert.equal(remaining, 25 / 38);
});

test("where no time has passed there is nothing to take from", () => {
  assert.deepEqual(waterfallOf({}), { paused: 0, total: 0, lost: [], remaining: 0, worked: [] });
});
