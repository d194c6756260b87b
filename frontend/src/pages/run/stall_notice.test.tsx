import assert from "node:assert/strict";
import { test } from "node:test";
import { laneStallItem, laneStartItem } from "../../testing/builders.ts";
import { textOf } from "../../testing/markup.ts";
import { openStalls, StallNotice, sentence } from "./stall_notice.tsx";

const lanes = (...events: Parameters<typeof openStalls>[0][number][]) => openStalls(events).map(({ lane }) => lane);

test("a lane that stands still is named with its work, its limit and where it is", () => {
  const text = textOf(<StallNotice events={[laneStallItem()]} />);
  assert.match(text, /rollout-0 does not go on\. It was called to generate/);
  assert.match(text, /its like took at most 5\.0 s\. Its process answers; it is ended after 2 min 00 s/);
  assert.match(text, /synchronize \(torch\.py:8\)/);
});

test("the time since its last sign of progress is counted on", () => {
  assert.match(sentence(laneStallItem().body, 141.5), /, 41 s ago/);
  assert.match(sentence(laneStallItem({ state: "silent" }).body, 141.5), /does not answer either/);
  assert.match(sentence(laneStallItem({ state: "hung" }).body, 141.5), /its process was ended\.$/);
});

test("a lane stalls no more when it goes on, starts anew, or belongs to an attempt before", () => {
  const stall = laneStallItem({}, 1);
  assert.deepEqual(lanes(stall), ["rollout-0"]);
  assert.deepEqual(lanes(stall, laneStallItem({ state: "hung" }, 2)), ["rollout-0"]);
  assert.deepEqual(lanes(stall, laneStallItem({ state: "working" }, 2)), []);
  assert.deepEqual(lanes(stall, laneStartItem(2)), []);
  assert.deepEqual(lanes(stall, laneStallItem({ lane: "trainer-0" }, 2, 2)), ["trainer-0"]);
});

test("without one nothing is shown", () => {
  assert.equal(textOf(<StallNotice events={[]} />), "");
});
