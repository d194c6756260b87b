import assert from "node:assert/strict";
import { test } from "node:test";
import { specSchema } from "../../testing/committed.ts";
import { findSettings } from "./setting_search.ts";

const SCHEMA = specSchema();
const SPEC = { algorithm: { name: "flow_grpo" } };
const paths = (query: string) => findSettings(query, SCHEMA, SPEC).map(({ path }) => path);

test("a setting is found by its label, by its key, and by words of both", () => {
  assert.equal(paths("learning rate")[0], "optimizer.learning_rate");
  assert.equal(paths("max_grad_norm")[0], "optimizer.max_grad_norm");
  assert.equal(paths("lora alpha")[0], "lora.alpha");
});

test("a label that is the query comes before those that begin with it", () => {
  assert.equal(paths("Guidance")[0], "sampling.guidance_scale");
});

test("settings of the chosen algorithm are found, those of others are not", () => {
  assert.deepEqual(paths("algorithm.clip_range"), ["algorithm.clip_range"]);
  assert.deepEqual(paths("num_preferences"), []);
});

test("nothing is found for nothing, nor for what no setting is called", () => {
  assert.deepEqual(paths("  "), []);
  assert.deepEqual(paths("flux capacitor"), []);
});
