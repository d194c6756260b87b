import assert from "node:assert/strict";
import { test } from "node:test";
import { groupOfBatch, sample } from "../../testing/builders.ts";
import { coverageText, factsOf, hoverText, scoreText } from "./sample_facts.ts";

test("a score that could not be given says why, where somebody knows", () => {
  const one = sample({ rewards: { ocr: 0.25 }, missing: { remote: "timed out" } });
  assert.deepEqual(
    ["ocr", "remote", "aesthetic"].map((name) => scoreText(one, name)),
    ["0.25", "no score: timed out", "no score: see the reward lanes' log"],
  );
});

test("a sample's facts hold the mean and spread of its whole group, where that is known", () => {
  const group = (facts: [string, string][]) => facts.find(([name]) => name === "Group")?.[1];
  assert.equal(group(factsOf(sample(), [], groupOfBatch({ mean_reward: 0.25 }))), "mean 0.25 ± 0.1");
  assert.equal(group(factsOf(sample(), [])), undefined);
});

test("pointed at, a tile tells its rewards by part, advantage, version, age and lane", () => {
  const one = sample({ rewards: { ocr: 0.25, aesthetic: 0.75 }, advantage: -1.5, staleness: 1, member: 3 });
  assert.equal(
    hoverText(one),
    "Reward 0.5\nOCR 0.25\nAesthetic 0.75\nAdvantage -1.5\nMember 3, v1, 1 version stale\nGenerated on rollout-0",
  );
  assert.equal(hoverText(sample({ rewards: { ocr: 0.5 }, lane: "" })), "Reward 0.5\nMember 0, v1, no staleness");
});

test("how many members are stored is said, and what their mean is over", () => {
  const size = { num_groups: 9, group_size: 16, num_held_out: 8 };
  const row = (purpose: "train" | "evaluate", group?: ReturnType<typeof groupOfBatch>) => ({
    samples: [0, 1].map((member) => sample({ purpose, member })),
    group,
  });
  assert.equal(
    coverageText([row("train", groupOfBatch())], size),
    "2 of 16 members of 1 of 9 prompts are stored. Means and spreads are over all 16 members.",
  );
  assert.match(coverageText([row("train")], size), /Means and spreads are over those\.$/);
  assert.equal(
    coverageText([row("evaluate")], size),
    "2 of 8 samples of each of 1 prompts are stored. Means are over those.",
  );
});
