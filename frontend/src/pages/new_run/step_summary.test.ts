import assert from "node:assert/strict";
import { test } from "node:test";
import { getPath, type JsonObject } from "../../base/paths.ts";
import { specSchema } from "../../testing/committed.ts";
import { FormModel } from "./form_model.ts";
import { summaryOf as summary } from "./step_summary.ts";
import type { StepId } from "./steps.ts";

const summaryOf = (step: StepId, spec: JsonObject) => summary(step, (path) => getPath(spec, path));
const SPEC: JsonObject = {
  base_model: { path: "org/flux" },
  tuning: "lora",
  lora: { rank: 16 },
  sampling: { width: 512, height: 256 },
  prompts: { inline: ["a cat", "a dog"], prompt_set: null },
  evaluation: { prompts: ["a cow"] },
  rewards: [{ name: "ocr" }, { name: "remote", label: "faces" }, { name: "aesthetic", watched: true }],
  algorithm: { name: "flow_grpo" },
  num_batches: 60,
  batch: { num_prompts_per_batch: 9, group_size: 16 },
  lanes: { num_rollout: 3, num_trainer: 4, num_reward: 1 },
  pipeline: { placement: "disaggregated", gap: true, tsp: false, tag: "search", max_staleness: 1 },
};

test("each step says what is chosen in it", () => {
  assert.equal(summaryOf("model", SPEC), "flux · LoRA rank 16 · 512 × 256");
  assert.equal(summaryOf("prompts", SPEC), "2 prompts · 1 held out");
  assert.equal(summaryOf("rewards", SPEC), "ocr + faces · 1 monitored · flow_grpo");
  assert.equal(summaryOf("budget", SPEC), "60 batches · of 9 × 16 · 3 + 4 + 1 lanes");
  assert.equal(summaryOf("advanced", SPEC), "disaggregated · gap · search lending · staleness 1");
});

test("a spec that lacks everything has summaries too", () => {
  assert.equal(summaryOf("prompts", {}), "0 prompts");
  assert.equal(summaryOf("rewards", {}), "none yet");
  assert.equal(summaryOf("prompts", { prompts: { prompt_set: "5f" } }), "an uploaded set");
});

test("what a spec leaves to the server is said as the server takes it", () => {
  const model = new FormModel(specSchema());
  model.spec.value = { batch: { group_size: 24 } };
  const said = summary("budget", (path) => model.value(path));
  assert.match(said, /^\d+ batches · of \d+ × 24 · \d+ \+ \d+ \+ \d+ lanes$/);
});
