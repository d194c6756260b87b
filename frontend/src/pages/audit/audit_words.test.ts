import assert from "node:assert/strict";
import { test } from "node:test";
import { changesText, linkOf } from "./audit_words.ts";

test("rows lead to the page of what they are about", () => {
  assert.equal(linkOf({ object_type: "gpu", object_id: "7" }), "/pool/gpus/7");
  assert.equal(linkOf({ object_type: "run", object_id: "a-b" }), "/runs/a-b");
  assert.equal(linkOf({ object_type: "secret", object_id: "7" }), null);
});

test("arguments are named with their values, and empty ones left out", () => {
  assert.equal(
    changesText({ reason: "new fans", parent: null, prompts: [], lanes: ["a"], deep: { b: 1 }, note: "" }),
    'reason: new fans, lanes: ["a"], deep: {"b":1}',
  );
  assert.equal(changesText({}), "");
});
