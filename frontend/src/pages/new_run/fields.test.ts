import assert from "node:assert/strict";
import { test } from "node:test";
import { spec } from "../../testing/builders.ts";
import { specSchema } from "../../testing/committed.ts";
import { FORM_PATHS, GROUPS, inFormOrder, labelOf, REWARD_FIELDS, settingField } from "./fields.ts";

const SCHEMA = specSchema();

test("every field of the spec is asked for, and nothing else is", () => {
  const asked = new Set(FORM_PATHS.filter((path) => path !== "algorithm.name"));
  assert.deepEqual([...asked].sort(), SCHEMA.paths().sort());
});

test("every part of a reward is asked for", () => {
  const asked = ["name", "weight", "watched", "settings", ...REWARD_FIELDS.map(({ key }) => key)];
  assert.deepEqual(asked.sort(), Object.keys(spec().rewards[0] ?? {}).sort());
});

test("no field is asked for twice and each says what it is", () => {
  const fields = GROUPS.flatMap((group) => group.fields);
  assert.equal(new Set(fields.map((field) => field.path)).size, fields.length);
  for (const field of fields) assert.ok(field.label, field.path);
});

test("only a field that may be empty says what that means, and only lists are written as lists", () => {
  for (const field of GROUPS.flatMap((group) => group.fields)) {
    const schema = SCHEMA.at(field.path);
    assert.ok(schema.optional || field.empty === undefined, field.path);
    assert.equal(field.list !== undefined, schema.type === "list", field.path);
  }
});

test("settings without a label of their own are named by their key", () => {
  assert.deepEqual(settingField("algorithm", "num_good_levels"), {
    path: "algorithm.num_good_levels",
    label: "Good levels",
  });
  assert.deepEqual(settingField("algorithm", "stride"), {
    path: "algorithm.stride",
    label: "Window moves by",
    unit: "denoising steps",
  });
  assert.equal(settingField("algorithm", "kl_coefficient").label, "KL coefficient");
});

test("every setting of every algorithm has a label in words", () => {
  for (const { value } of SCHEMA.at("algorithm.name").choices) {
    for (const key of SCHEMA.settings("algorithm", { algorithm: { name: value } })) {
      assert.match(settingField("algorithm", key).label, /^[A-Z][^_]*$/, `${value}: ${key}`);
    }
  }
});

test("a section's keys come in the form's order, unknown ones last", () => {
  assert.deepEqual(inFormOrder("batch", ["zzz", "group_size", "num_prompts_per_batch"]), [
    "num_prompts_per_batch",
    "group_size",
    "zzz",
  ]);
  assert.deepEqual(inFormOrder("", ["seed", "rewards", "base_model"]), ["base_model", "rewards", "seed"]);
});

test("an error is told with the label of its input", () => {
  assert.equal(labelOf("batch.group_size"), "Group size");
  assert.equal(labelOf("base_model.path"), "Model");
  assert.equal(labelOf("prompts.inline.3"), "Prompts");
  assert.equal(labelOf("rewards.0.timeout_seconds"), "Time-out");
  assert.equal(labelOf("rewards.0.settings.url"), "Url");
  assert.equal(labelOf("algorithm.kl_coefficient"), "KL coefficient");
  assert.deepEqual([labelOf("rewards"), labelOf("batch"), labelOf("")], ["", "", ""]);
});
