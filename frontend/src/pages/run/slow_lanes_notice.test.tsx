import assert from "node:assert/strict";
import { test } from "node:test";
import { laneStallItem, slowLanesItem } from "../../testing/builders.ts";
import { textOf } from "../../testing/markup.ts";
import { SlowLanesNotice, slowLanes } from "./slow_lanes_notice.tsx";

test("each slow lane is named with how many times the time of its kind it takes, the slowest first", () => {
  const text = textOf(<SlowLanesNotice events={[slowLanesItem({ "rollout-1": 1.6, "trainer-0": 2.5 })]} />);
  assert.match(text, /trainer-0 is slow\. It takes 2\.5 × the usual time of its kind, as measured in 4 batches\./);
  assert.ok(text.indexOf("trainer-0") < text.indexOf("rollout-1"));
});

test("what is told later replaces what was told before, and a lane that recovered is not named any more", () => {
  const slow = slowLanesItem({ "rollout-1": 1.6 }, 1);
  assert.equal(textOf(<SlowLanesNotice events={[slow, slowLanesItem({}, 2)]} />), "");
});

test("lanes of an attempt before this one are not named", () => {
  assert.deepEqual(slowLanes([slowLanesItem({ "rollout-1": 1.6 }, 1), laneStallItem({}, 2, 2)]).lanes, []);
});
