import assert from "node:assert/strict";
import { test } from "node:test";
import { entriesOf, entryOf, lineOf, textOf } from "./prompts.ts";

const RECORD = { text: "two cats", metadata: { tag: "counting", include: [{ class: "cat", count: 2 }] } };

test("a line is its text, unless it is an object", () => {
  assert.equal(entryOf("a red square"), "a red square");
  assert.equal(entryOf('"quoted"'), '"quoted"');
  assert.deepEqual(entryOf(JSON.stringify(RECORD)), RECORD);
});

test("a line that only begins like an object stays what was typed", () => {
  for (const line of ['{"text": "half', "{a cat}", "{"]) assert.equal(entryOf(line), line);
});

test("what is written is read again, whatever it is", () => {
  for (const entry of ["a red square", RECORD]) assert.deepEqual(entryOf(lineOf(entry)), entry);
});

test("empty lines and spaces around lines are left out", () => {
  assert.deepEqual(entriesOf(`a\n\n  b \r\n${JSON.stringify(RECORD)}\n`), ["a", "b", RECORD]);
});

test("a prompt's text is all that a list shows of it", () => {
  const record = { text: "two cats", negative: null, metadata: {}, pictures: [], id: "cats" };
  assert.deepEqual(["a", record].map(textOf), ["a", "two cats"]);
});
