import assert from "node:assert/strict";
import { test } from "node:test";
import { equivalentCurl } from "../src/pages/new_run/curl.ts";
import { GROUPS, inFormOrder } from "../src/pages/new_run/fields.ts";

test("the command quotes what a shell would otherwise read", () => {
  const command = equivalentCurl("http://host", { project: "p", name: "it's $HOME", spec: {} });
  assert.ok(command.includes(`it'\\''s $HOME`));
  assert.ok(command.startsWith("curl -X POST http://host/api/v1/runs"));
});

test("no field is asked for twice and each says what it is", () => {
  const fields = GROUPS.flatMap((group) => group.fields);
  assert.equal(new Set(fields.map((field) => field.path)).size, fields.length);
  for (const field of fields) assert.ok(field.label && field.help, field.path);
});

test("a section's keys come in the form's order, unknown ones last", () => {
  assert.deepEqual(inFormOrder("batch", ["zzz", "group_size", "num_prompts_per_batch"]), ["num_prompts_per_batch", "group_size", "zzz"]);
});
