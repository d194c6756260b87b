import assert from "node:assert/strict";
import { test } from "node:test";
import type { SweepPlan } from "../../api/schema.ts";
import { draftOf, draftOfPlan, listed, newRange, objectives, planOf, sweepable } from "./sweep_draft.ts";

const SPEC = {
  seed: 3,
  prompts: { inline: ["a"] },
  rewards: [
    { name: "shape_match", weight: 1 },
    { name: "ocr", label: "text" },
  ],
  optimizer: { learning_rate: 0.002, betas: [0.9, 0.99] },
  num_batches: 20,
};

test("a draft from a run sweeps its learning rate around the one that it had", () => {
  const plan = planOf(draftOf("rates", SPEC));
  assert.deepEqual(plan.space, {
    "optimizer.learning_rate": { kind: "log_uniform", low: 0.0005, high: 0.008, num_values: 4 },
  });
  assert.deepEqual([plan.sampler, plan.pruner], [{ kind: "grid" }, { kind: "none" }]);
  assert.equal("budget_gpu_hours" in plan, false, "an empty budget is none");
});

test("what is not asked for is left out, and what is no number goes to the server as it was typed", () => {
  const draft = {
    ...draftOf("rates", SPEC),
    sampler: "random",
    pruner: "successive_halving",
    minSamples: "many",
    ranges: [{ ...newRange(" lora.rank "), kind: "int", low: "4", high: "32", step: "" }],
  } as const;
  const plan = planOf(draft);
  assert.deepEqual(plan.space, { "lora.rank": { kind: "int", low: 4, high: 32 } });
  assert.deepEqual(plan.sampler, { kind: "random", num_points: 12, seed: 0 });
  assert.deepEqual(plan.pruner, { kind: "successive_halving", min_samples: "many", reduction_factor: 3 });
});

test("choices are read as numbers, texts or lists", () => {
  assert.deepEqual(listed("8, 16"), [8, 16]);
  assert.deepEqual(listed("zero1, zero2, 3"), ["zero1", "zero2", 3]);
  assert.deepEqual(listed('[1, 2], [3], null, true, "8"'), [[1, 2], [3], null, true, "8"]);
  assert.deepEqual(listed(" "), []);
});

test("a plan that was read back makes the same plan", () => {
  const plan = {
    name: "wide",
    spec: SPEC,
    space: {
      "lora.rank": { kind: "int", low: 4, high: 32, step: 4 },
      "deepspeed.config": { kind: "choice", values: ["zero1", "zero2"] },
      "optimizer.learning_rate": { kind: "uniform", low: 0.001, high: 0.1 },
    },
    sampler: { kind: "random", num_points: 9, seed: 7 },
    pruner: { kind: "successive_halving", min_samples: 64, reduction_factor: 2 },
    num_seeds: 3,
    max_parallel_runs: 8,
    budget_gpu_hours: 12.5,
    objective: { metric: "reward/mean", maximise: false },
  };
  assert.deepEqual(planOf(draftOfPlan(plan as unknown as SweepPlan)), plan);
});

test("everything but seed and prompts can be swept, rewards by their place", () => {
  assert.deepEqual(sweepable(SPEC), [
    "num_batches",
    "optimizer.betas",
    "optimizer.learning_rate",
    "rewards.0.name",
    "rewards.0.weight",
    "rewards.1.label",
    "rewards.1.name",
  ]);
  assert.deepEqual(objectives(SPEC), ["eval/reward", "reward/mean", "eval/part/shape_match", "eval/part/text"]);
});
