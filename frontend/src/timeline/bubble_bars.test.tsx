import assert from "node:assert/strict";
import { test } from "node:test";
import type { Bubbles } from "../api/schema.ts";
import { attributes, markup, textOf } from "../testing/markup.ts";
import { BubbleBars } from "./bubble_bars.tsx";

/** The trainer waits 2 s of 10 for groups, and 5 s at the beginning; the rollout lane works 8 s of 10. */
const TRAINER = { train: 3, "idle:group_incomplete": 2, "idle:start_up": 5 };
const ROLLOUT = { generate: 8, "idle:back_pressure": 2 };
const BUBBLES: Bubbles = {
  by_lane: { "rollout-0": ROLLOUT, "trainer-0": TRAINER },
  by_role: { rollout: ROLLOUT, trainer: TRAINER },
  by_class: { ...TRAINER, ...ROLLOUT },
  total_seconds: 20,
  stream_seq: 1,
};

const bars = (bubbles: Bubbles, inFull = false) => (
  <BubbleBars bubbles={bubbles} order={["trainer-0", "rollout-0"]} inFull={inFull} />
);

/** `num` lanes that all generated one second, in one role. */
function manyLanes(num: number): Bubbles {
  const lanes = Array.from({ length: num }, (_, index) => [`rollout-${index}`, { generate: 1 }]);
  const together = { generate: num };
  return {
    by_lane: Object.fromEntries(lanes) as Bubbles["by_lane"],
    by_role: { rollout: together },
    by_class: together,
    total_seconds: num,
    stream_seq: 1,
  };
}

test("bars stand in the timeline's order, those of all lanes last, and say their classes", () => {
  assert.deepEqual(attributes(bars(BUBBLES), "aria-label"), [
    "trainer-0: Train 30.0 %, Idle: starting up 50.0 %, Idle: group incomplete 20.0 %",
    "rollout-0: Generate 80.0 %, Idle: back-pressure 20.0 %",
    "All lanes: Generate 40.0 %, Train 15.0 %, Idle: starting up 25.0 %, Idle: group incomplete 10.0 %, Idle: back-pressure 10.0 %",
  ]);
});

test("a bar says how busy its lane was", () => {
  const text = textOf(bars(BUBBLES));
  for (const row of ["trainer-0 30 % busy", "rollout-0 80 % busy", "All lanes 55 % busy"])
    assert.ok(text.includes(row));
});

test("a role has a bar where it has more than one lane", () => {
  assert.doesNotMatch(textOf(bars(BUBBLES)), /Rollout lanes/);
  assert.match(textOf(bars(manyLanes(2))), /Rollout lanes 100 % busy All lanes 100 % busy/);
});

test("the largest loss is named with its share of its role's time, beginnings aside", () => {
  assert.match(
    textOf(bars(BUBBLES)),
    /first work and the last: (rollout|trainer) lanes idle for (back-pressure|group incomplete) , 20\.0 %/,
  );
  assert.doesNotMatch(textOf(bars(manyLanes(2))), /most was lost/);
});

test("many lanes are folded away, their roles are not", () => {
  assert.doesNotMatch(markup(bars(manyLanes(12))), /<details>/);
  assert.match(markup(bars(manyLanes(13))), /<details><summary[^>]*>13 lanes, one by one/);
});

test("the table has a column a role, and every column adds up", () => {
  const text = textOf(bars(BUBBLES, true));
  assert.match(text, /Class Trainer Rollout All lanes Lane time Generate 80\.0 % 40\.0 % 8\.0 s Train 30\.0 % 15\.0 %/);
  assert.match(text, /Together 100\.0 % 100\.0 % 100\.0 % 20 s$/);
});

test("without lane time it says when there will be some", () => {
  const none: Bubbles = { by_lane: {}, by_role: {}, by_class: {}, total_seconds: 0, stream_seq: 0 };
  assert.match(textOf(bars(none)), /^No lane time yet/);
});
