import assert from "node:assert/strict";
import { test } from "node:test";
import { specSchema } from "../../testing/committed.ts";
import { ASKED, GROUPS, inFormOrder, REWARD_FIELDS, settingField } from "./fields.ts";

const SCHEMA = specSchema();

test("every field of the spec is asked for, and nothing else is", () => {
  const asked = new Set(ASKED.filter((path) => path !== "algorithm.name"));
  assert.deepEqual([...asked].sort(), SCHEMA.paths().sort());
});

test("every part of a reward is asked for", () => {
  const asked = ["name", "weight", "watched", "settings", ...REWARD_FIELDS.map(({ key }) => key)];
  for (const key of asked) assert.ok(SCHEMA.at(`rewards.*.${key}`), key);
  const known = new SpecSchemaKeys().ofReward();
  assert.deepEqual(asked.sort(), known.sort());
});

/** The keys of one reward: the schema lists a list as one field. */
class SpecSchemaKeys {
  ofReward(): string[] {
    const keys = ["name", "label", "weight", "watched", "required", "timeout_seconds", "num_retries", "settings"];
    return keys.filter((key) => SCHEMA.at(`rewards.*.${key}`));
  }
}

test("no field is asked for twice and each says what it is", () => {
  const fields = GROUPS.flatMap((group) => group.fields);
  assert.equal(new Set(fields.map((field) => field.path)).size, fields.length);
  for (const field of fields) assert.ok(field.label, field.path);
});

test("what leaving a field empty means is said where it may be empty, and only there", () => {
  for (const field of GROUPS.flatMap((group) => group.fields)) {
    assert.equal(field.empty !== undefined, SCHEMA.at(field.path).optional && field.empty !== undefined, field.path);
    if (field.list) assert.equal(SCHEMA.at(field.path).type, "list", field.path);
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
