import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../src/base/paths.ts";
import { settled, whyNot } from "../src/pages/new_run/applies.ts";
import { equivalentCurl } from "../src/pages/new_run/curl.ts";
import { GROUPS, inFormOrder } from "../src/pages/new_run/fields.ts";
import { SpecSchema } from "../src/pages/new_run/spec_schema.ts";

test("the command quotes what a shell would otherwise read", () => {
  const command = equivalentCurl("http://host", { project: "p", name: "it's $HOME", spec: {} });
  assert.ok(command.includes(`it'\\''s $HOME`));
  assert.ok(command.startsWith("curl -X POST http://host/api/v1/runs"));
});

test("no field is asked for twice and each says what it is", () => {
  const fields = GROUPS.flatMap((group) => group.fields);
  assert.equal(new Set(fields.map((field) => field.path)).size, fields.length);
  for (const field of fields) assert.ok(field.label, field.path);
});

const SCHEMA = new SpecSchema({
  $defs: {
    Batch: {
      type: "object",
      properties: {
        size: { type: "integer", minimum: 2, description: "At least `2`." },
        part: { anyOf: [{ type: "integer", minimum: 1 }, { type: "null" }], default: null, description: "Empty: whole." },
      },
    },
    Name: { type: "string", enum: ["a", "b"], oneOf: [{ const: "a", description: "The first." }, { const: "b", description: "The second." }] },
    Reward: { type: "object", properties: { name: { $ref: "#/$defs/Name", description: "The scorer." } } },
  },
  properties: { batch: { $ref: "#/$defs/Batch", default: {} }, rewards: { type: "array", items: { $ref: "#/$defs/Reward" } } },
});

test("bounds, help and emptiness come from the schema", () => {
  const size = SCHEMA.at("batch.size");
  assert.deepEqual([size.type, size.min, size.step, size.optional, size.help], ["integer", 2, 1, false, "At least 2."]);
  const part = SCHEMA.at("batch.part");
  assert.deepEqual([part.type, part.min, part.optional], ["integer", 1, true]);
});

test("choices come from the schema with their help, through lists and references", () => {
  const { type, choices } = SCHEMA.at("rewards.*.name");
  assert.deepEqual([type, choices], ["choice", [{ value: "a", help: "The first." }, { value: "b", help: "The second." }]]);
  assert.throws(() => SCHEMA.at("batch.nothing"), /no field/);
});

test("a section's keys come in the form's order, unknown ones last", () => {
  assert.deepEqual(inFormOrder("batch", ["zzz", "group_size", "num_prompts_per_batch"]), ["num_prompts_per_batch", "group_size", "zzz"]);
});

const pipeline = (fields: JsonObject) => ({ pipeline: { placement: "disaggregated", tag: "off", max_staleness: 0, importance_cap: null, ...fields } });

test("what does not apply says why, and holds what the server accepts", () => {
  const colocated = settled(pipeline({ placement: "colocated", tag: "greedy", max_staleness: 1, importance_cap: 2 }));
  assert.deepEqual(colocated, pipeline({ placement: "colocated" }));
  for (const path of ["gap", "tag", "max_staleness", "importance_cap"]) assert.ok(whyNot(`pipeline.${path}`, colocated), path);
});

test("the cap applies with staleness alone, and goes with it", () => {
  const stale = pipeline({ max_staleness: 1, importance_cap: 2 });
  assert.equal(settled(stale), stale);
  assert.equal(whyNot("pipeline.importance_cap", stale), "");
  assert.deepEqual(settled(pipeline({ importance_cap: 2 })), pipeline({}));
});

test("fields without a rule always apply", () => {
  assert.equal(whyNot("seed", {}), "");
});
