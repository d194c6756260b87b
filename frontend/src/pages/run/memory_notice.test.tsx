import assert from "node:assert/strict";
import { test } from "node:test";
import { laneStallItem, outOfMemoryItem } from "../../testing/builders.ts";
import { textOf } from "../../testing/markup.ts";
import { lastShortages, MemoryNotice } from "./memory_notice.tsx";

test("a lane whose calls were made smaller is named with the reason and the plan's figures", () => {
  const text = textOf(
    <MemoryNotice events={[outOfMemoryItem("rollout-0", "had no memory to decode. The plan counts 74 GiB.")]} />,
  );
  assert.match(text, /rollout-0 had no memory to decode\. The plan counts 74 GiB\. Log/);
});

test("of each lane the last shortage of the newest attempt is shown", () => {
  const first = outOfMemoryItem("rollout-0", "first", 1);
  const second = outOfMemoryItem("rollout-0", "second", 2);
  assert.deepEqual(
    lastShortages([first, second]).map(({ sentence }) => sentence),
    ["second"],
  );
  assert.deepEqual(lastShortages([first, laneStallItem({}, 2, 2)]), []);
});

test("without one nothing is shown", () => {
  assert.equal(textOf(<MemoryNotice events={[]} />), "");
});
