import assert from "node:assert/strict";
import { test } from "node:test";
import { groupOfBatch, sample } from "../../testing/builders.ts";
import { byPrompt, levelOf, neighbour, rewardScale, rowsOf, twinOf } from "./sample_rows.ts";

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

test("the mean of a prompt is its whole group's, and that of the samples shown where no group is known", () => {
  const shown = [sample({ reward: 1 }), sample({ member: 1, reward: null }), sample({ member: 2, reward: 2 })];
  const mean = (...groups: Parameters<typeof groupOfBatch>[0][]) =>
    rowsOf(shown, groups.map(groupOfBatch))[0]?.meanReward;
  assert.equal(mean(), 1.5);
  assert.equal(mean({ prompt_index: 0, mean_reward: 0.25 }), 0.25);
  assert.equal(mean({ prompt_index: 0, mean_reward: null }), null);
  assert.equal(mean({ prompt_index: 7, mean_reward: 0.25 }), 1.5);
  assert.equal(rowsOf(rewarded(null))[0]?.meanReward, null);
});

test("prompts are shown best or worst first, or only those without spread; those without a reward last", () => {
  const shown = [0, 1, 2, 3].map((prompt_index) => sample({ prompt_index }));
  const groups = [0.5, null, 0.9, 0.1].map((mean_reward, prompt_index) =>
    groupOfBatch({ prompt_index, mean_reward, has_spread: prompt_index !== 2 }),
  );
  const order = (choice: Parameters<typeof rowsOf>[2]) => rowsOf(shown, groups, choice).map((row) => row.promptIndex);
  assert.deepEqual(order("all"), [0, 1, 2, 3]);
  assert.deepEqual(order("best"), [2, 0, 3, 1]);
  assert.deepEqual(order("worst"), [3, 0, 2, 1]);
  assert.deepEqual(order("zero_spread"), [2]);
});

test("from a sample one goes to the next member or prompt, and never beyond the grid", () => {
  const [a, b, c] = [sample({ member: 0 }), sample({ member: 1 }), sample({ prompt_index: 1 })];
  const rows = [[a, b], [c]];
  assert.equal(neighbour(rows, a, 1, 0), b);
  assert.equal(neighbour(rows, b, 1, 0), undefined);
  assert.equal(neighbour(rows, a, -1, 0), undefined);
  assert.equal(neighbour(rows, b, 0, 1), c);
  assert.equal(neighbour(rows, c, 0, -1), a);
  assert.equal(neighbour(rows, c, 0, 1), undefined);
  assert.equal(neighbour(rows, sample(), 1, 0), undefined);
});

test("samples are compared with those of the same prompt, member and noise alone", () => {
  const one = sample({ member: 2, seed: "9", policy_version: 4 });
  const base = sample({ member: 2, seed: "9", policy_version: 0 });
  assert.equal(twinOf(one, [sample({ member: 1, seed: "9" }), base]), base);
  assert.equal(
    twinOf(one, [sample({ member: 2, seed: "8" }), sample({ member: 2, seed: "9", prompt_id: "b" })]),
    undefined,
  );
});
