import assert from "node:assert/strict";
import { test } from "node:test";
import { specSchema } from "../../testing/committed.ts";
import { FORM_PATHS, GROUPS } from "./fields.ts";
import { essentialFields, isOther, otherGroups, STEPS, stepOf } from "./steps.ts";

test("every field of the groups is shown in exactly one step, once", () => {
  const shown = STEPS.flatMap((step) => [
    ...essentialFields(step),
    ...otherGroups(step).flatMap((group) => group.fields),
  ]).map(({ path }) => path);
  assert.deepEqual(shown.sort(), GROUPS.flatMap((group) => group.fields.map(({ path }) => path)).sort());
});

test("every essential path is a field, and no step shows more than eight at first", () => {
  for (const step of STEPS) {
    assert.equal(essentialFields(step).length, step.essential.length, step.id);
    assert.ok(step.essential.length <= 8, step.id);
  }
});

test("each path of the form belongs to the step that shows it", () => {
  for (const step of STEPS) {
    for (const { path } of essentialFields(step))
      assert.deepEqual([stepOf(path), isOther(path)], [step.id, false], path);
    for (const group of otherGroups(step))
      for (const { path } of group.fields) assert.deepEqual([stepOf(path), isOther(path)], [step.id, true], path);
  }
});

test("what no input shows by itself belongs to the step of its section", () => {
  assert.equal(stepOf("prompts.inline.3"), "prompts");
  assert.equal(stepOf("rewards.0.settings.url"), "rewards");
  assert.equal(stepOf("reward_mixing"), "rewards");
  assert.equal(stepOf("algorithm.window_size"), "rewards");
  assert.equal(stepOf("lora"), "model");
  assert.equal(stepOf("lanes"), "budget");
  assert.equal(isOther("algorithm.window_size"), true);
  assert.equal(isOther("base_model.path"), false);
});

test("no path of the schema is left to the last step for want of a better one", () => {
  const sections = new Set(["pipeline", "deepspeed", "performance", "replay_gate", "seed"]);
  const strays = [...FORM_PATHS, ...specSchema().paths()].filter(
    (path) => stepOf(path) === "advanced" && !sections.has(path.split(".")[0] ?? ""),
  );
  assert.deepEqual(strays, []);
});
