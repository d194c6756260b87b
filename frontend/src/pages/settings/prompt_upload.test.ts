import assert from "node:assert/strict";
import { test } from "node:test";
import { columnNames, entriesOfFile, entriesOfTable, tableOf, withoutRepeats } from "./prompt_upload.ts";

test("a header is recognised by the name of its column of prompts, and is no prompt", () => {
  const table = tableOf("prompt\na red square\na blue circle\n");
  assert.deepEqual([table.hasHeader, table.column], [true, 0]);
  assert.deepEqual(entriesOfTable(table), ["a red square", "a blue circle"]);
});

test("names of several columns are recognised without a known one, and the longest column is offered", () => {
  const table = tableOf("tag,words\ncolour,a red square\nshape,a blue circle\n");
  assert.deepEqual([table.hasHeader, table.column, columnNames(table)], [true, 1, ["tag", "words"]]);
});

test("a single column without a header is all prompts", () => {
  const table = tableOf("a red square\na blue circle\n");
  assert.equal(table.hasHeader, false);
  assert.deepEqual(columnNames(table), ["column 1"]);
  assert.deepEqual(entriesOfTable(table), ["a red square", "a blue circle"]);
});

test("other columns become fields or metadata, or are left out", () => {
  const table = tableOf("id,prompt,negative,style\ncat-1,a cat,blurred,oil\n,a dog,,\n");
  assert.deepEqual(entriesOfTable(table), [
    { text: "a cat", id: "cat-1", negative: "blurred", metadata: { style: "oil" } },
    "a dog",
  ]);
  assert.deepEqual(entriesOfTable({ ...table, keepsOthers: false }), ["a cat", "a dog"]);
  assert.deepEqual(entriesOfTable({ ...table, column: 3, keepsOthers: false }), ["oil"]);
});

test("repeated prompts are counted and the first of each is kept, in order", () => {
  const { kept, numRepeats } = withoutRepeats([
    "b",
    "a",
    "b",
    { text: "a" },
    { id: "x", text: "a" },
    { text: "c", id: "x" },
  ]);
  assert.deepEqual([kept, numRepeats], [["b", "a", { id: "x", text: "a" }], 3]);
  const tagged = [
    { text: "a", negative: "n" },
    { negative: "n", text: "a" },
    { text: "a", negative: "m" },
  ];
  assert.equal(withoutRepeats(tagged).numRepeats, 1);
});

test("a JSON file is its list of prompts", () => {
  assert.deepEqual(entriesOfFile('{"prompts": ["a", {"text": "b"}]}', "p.json"), ["a", { text: "b" }]);
  assert.throws(() => entriesOfFile('"a"', "p.json"), /must be a list of prompts/);
  assert.deepEqual(entriesOfFile("\ufeffa\n\nb", "p.txt"), ["a", "b"]);
});
