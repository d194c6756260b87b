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

const bars = (bubbles: Bubbles) => <BubbleBars bubbles={bubbles} order={["trainer-0", "rollout-0"]} />;

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

test("bars stand in the timeline's order, and say their classes", () => {
  assert.deepEqual(attributes(bars(BUBBLES), "aria-label").slice(1), [
    "trainer-0: Train 30.0 %, Idle: starting up 50.0 %, Idle: group incomplete 20.0 %",
    "rollout-0: Generate 80.0 %, Idle: back-pressure 20.0 %",
  ]);
});

test("a bar says how busy its lane was", () => {
  const text = textOf(bars(BUBBLES));
  for (const row of ["trainer-0 30 % busy", "rollout-0 80 % busy"]) assert.ok(text.includes(row));
});

test("the largest loss is named with its share of its role's time, beginnings aside", () => {
  assert.match(
    textOf(bars(BUBBLES)),
    /first work and the last: (rollout|trainer) lanes idle for (back-pressure|group incomplete) , 20\.0 %/,
  );
  assert.doesNotMatch(textOf(bars(manyLanes(2))), /most was lost/);
});

test("many lanes are folded away", () => {
  assert.match(markup(bars(manyLanes(12))), /<details open>/);
  assert.match(markup(bars(manyLanes(13))), /<details><summary[^>]*>13 lanes, one by one/);
});

test("the waterfall goes from all lane time through what was lost to each kind of work", () => {
  assert.match(
    textOf(bars(BUBBLES)),
    new RegExp(
      [
        "All lane time 100.0 % 20 s",
        "Idle: starting up 25.0 % 5.0 s",
        "Idle: group incomplete 10.0 % 2.0 s",
        "Idle: back-pressure 10.0 % 2.0 s",
        "Busy .* 55.0 % 11 s",
        "Generate 40.0 % 8.0 s",
        "Train 15.0 % 3.0 s",
        "Together 100.0 % 20 s",
      ].join(" "),
    ),
  );
});

test("the lane time of one role can be chosen where there are several", () => {
  assert.match(textOf(bars(BUBBLES)), /All lanes Trainer Rollout Class/);
  assert.doesNotMatch(textOf(bars(manyLanes(2))), /All lanes/);
});

test("without lane time it says when there will be some", () => {
  const none: Bubbles = { by_lane: {}, by_role: {}, by_class: {}, total_seconds: 0, stream_seq: 0 };
  assert.match(textOf(bars(none)), /^No lane time yet/);
});

test("pauses are named, and are no part of any share", () => {
  const together = { train: 3, "idle:drain": 1, pause: 6 };
  const paused: Bubbles = {
    by_lane: { "trainer-0": together },
    by_role: { trainer: together },
    by_class: together,
    total_seconds: 10,
    stream_seq: 1,
  };
  const text = textOf(bars(paused));
  assert.match(text, /Paused left out of all shares – 6\.0 s All other lane time 100\.0 % 4\.0 s/);
  assert.match(text, /Busy .* 75\.0 % 3\.0 s/);
  assert.match(text, /trainer-0 75 % busy/);
});
