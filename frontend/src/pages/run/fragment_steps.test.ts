import assert from "node:assert/strict";
import { test } from "node:test";
import type { FragmentStep } from "../../api/schema.ts";
import { fragmentStory, groupOfBatch, span } from "../../testing/builders.ts";
import { fragmentOf, isHeldOut, stepBars, storyFacts } from "./fragment_steps.ts";

const step = (fields: Partial<FragmentStep>): FragmentStep => ({
  kind: "generate",
  lane: "rollout-0",
  start: 100,
  end: 104,
  busy_seconds: 4,
  num_spans: 1,
  is_of_fragment: true,
  ...fields,
});

test("a span leads to the training fragment that it worked on, and to none otherwise", () => {
  const address = { batch: 3, group: 1, fragment: 0 };
  assert.deepEqual(fragmentOf(span({ ...address, kind: "generate" })), address);
  assert.deepEqual(fragmentOf(span({ ...address, kind: "score" })), address);
  assert.equal(fragmentOf(span({ ...address, kind: "evaluate" })), null);
  assert.equal(fragmentOf(span({ batch: 3, kind: "train" })), null);
});

test("a score that is no part of the story was of a held-out fragment of the same numbers", () => {
  const story = fragmentStory({ steps: [step({ kind: "score", lane: "reward-0", start: 10, end: 11 })] });
  const scored = (start: number) => span({ kind: "score", lane: "reward-0", start, end: start + 1 });
  assert.equal(isHeldOut(scored(10), story), false);
  assert.equal(isHeldOut(scored(5), story), true);
});

test("the bars of a story share one axis, from the first step's begin to the last one's end", () => {
  const bars = stepBars([step({}), step({ kind: "train", start: 106, end: 110 })]);
  assert.deepEqual(
    bars.map(({ left, width, after }) => [left, width, after]),
    [
      [0, 40, 0],
      [60, 40, 6],
    ],
  );
});

test("a story says its members, its group and how long it took, and what went wrong only where something did", () => {
  const steps = [step({}), step({ kind: "train", start: 106, end: 110 })];
  const facts = (story: Parameters<typeof fragmentStory>[0]) => Object.fromEntries(storyFacts(fragmentStory(story)));
  const plain = facts({ steps, members: [4, 5, 6], outcome: groupOfBatch() });
  assert.equal(plain.Members, "4 to 6");
  assert.equal(plain.Group, "mean 0.5 ± 0.1");
  assert.equal(plain.Took, "10 s, from noise to the last gradient of its batch");
  assert.equal(plain["Draws dropped"], undefined);
  const bad = facts({
    steps: [step({})],
    outcome: groupOfBatch({ has_spread: false, num_dropped_draws: 2 }),
    attempt: 2,
  });
  assert.deepEqual([bad["Zero spread"], bad["Draws dropped"], bad.Attempt], ["yes: it teaches nothing", "2", "2"]);
  assert.equal(bad.Took, "4.0 s, and is not trained on yet");
});
