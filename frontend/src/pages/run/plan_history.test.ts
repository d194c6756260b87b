import assert from "node:assert/strict";
import { test } from "node:test";
import type { GradedPlanStep } from "../../api/schema.ts";
import { gradeInWords } from "./plan_history.tsx";

const STEP: GradedPlanStep = {
  attempt: 1,
  revision: 1,
  since_batch: 0,
  reason: "",
  num_rollout: 2,
  num_trainer: 1,
  batch_seconds: 60,
  promise: null,
  measured_seconds: 51,
  relative_error: -0.15,
};

test("a plan stands with what was measured under it and by how much it was wrong", () => {
  assert.equal(gradeInWords(STEP), "51 s, −15 %");
  assert.equal(gradeInWords({ ...STEP, relative_error: 0.05 }), "51 s, +5 %");
});

test("a plan without a settled batch has no grade yet", () => {
  assert.equal(gradeInWords({ ...STEP, measured_seconds: null, relative_error: null }), "…");
});
