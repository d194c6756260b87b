import assert from "node:assert/strict";
import { test } from "node:test";
import { sample } from "../../testing/builders.ts";
import { byPrompt, levelOf, meanReward, rewardScale, scoreText } from "./sample_rows.ts";

const rewarded = (...rewards: (number | null)[]) => rewards.map((reward) => sample({ reward }));

test("rewards between 0 and 1 are coloured on that scale, others on their own range", () => {
  assert.deepEqual(rewardScale(rewarded(0.2, 0.4)), { low: 0, high: 1 });
  assert.deepEqual(rewardScale(rewarded(-1, 3, null)), { low: -1, high: 3 });
  assert.deepEqual(rewardScale(rewarded(0.5, 1.5)), { low: 0.5, high: 1.5 });
});

test("a reward lies on its scale, held within it", () => {
  const scale = { low: -1, high: 3 };
  assert.deepEqual(
    [-1, 1, 3, 9, -9, null].map((reward) => levelOf(reward, scale)),
    [0, 0.5, 1, 1, 0, 0],
  );
  assert.equal(levelOf(2, { low: 2, high: 2 }), 0.5);
});

test("samples stand by prompt index, members in order", () => {
  const rows = byPrompt([
    sample({ prompt_index: 1, member: 1 }),
    sample({ prompt_index: 0, member: 2 }),
    sample({ prompt_index: 1, member: 0 }),
  ]);
  assert.deepEqual(
    [...rows].map(([prompt, members]) => [prompt, members.map((one) => one.member)]),
    [
      [0, [2]],
      [1, [0, 1]],
    ],
  );
});

test("a mean is over the samples that have a reward", () => {
  assert.equal(meanReward(rewarded(1, null, 2)), 1.5);
  assert.equal(meanReward(rewarded(null)), null);
  assert.equal(meanReward(rewarded(0)), 0);
});

test("a score that could not be given says why, where somebody knows", () => {
  const one = sample({ rewards: { ocr: 0.25 }, missing: { remote: "timed out" } });
  assert.deepEqual(
    ["ocr", "remote", "aesthetic"].map((name) => scoreText(one, name)),
    ["0.25", "no score: timed out", "no score: see the reward lanes' log"],
  );
});
