import assert from "node:assert/strict";
import { test } from "node:test";
import { hackingItem, resumedItem } from "../../testing/builders.ts";
import { textOf } from "../../testing/markup.ts";
import { HackingNotice, openSuspicions } from "./hacking_notice.tsx";

test("a suspicion is shown with both changes and their errors", () => {
  const text = textOf(<HackingNotice events={[hackingItem()]} />);
  assert.match(text, /Over the 40 batches up to batch 60 the optimised reward rose \(\+0\.12 ± 0\.01\)/);
  assert.match(text, /Shape judge fell \(−0\.2 ± 0\.02\)/i);
});

test("without one nothing is shown", () => {
  assert.equal(textOf(<HackingNotice events={[]} />), "");
});

test("a suspicion ends by itself, or with a resume from a checkpoint before it", () => {
  const begun = hackingItem({ monitored: "judge" }, 1);
  const other = hackingItem({ monitored: "aesthetic" }, 2);
  const ended = hackingItem({ monitored: "judge", suspected: false }, 3);
  const names = (...events: Parameters<typeof openSuspicions>[0][number][]) =>
    openSuspicions(events).map(({ monitored }) => monitored);
  assert.deepEqual(names(begun, other), ["judge", "aesthetic"]);
  assert.deepEqual(names(begun, other, ended), ["aesthetic"]);
  assert.deepEqual(names(begun, other, resumedItem(3, 20)), []);
});
