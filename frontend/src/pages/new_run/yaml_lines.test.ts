import assert from "node:assert/strict";
import { test } from "node:test";
import { lineRange, messagesByLine } from "./yaml_lines.ts";

test("messages are listed by line, and those without one are left to the summary", () => {
  const found = messagesByLine([
    { path: "seed", message: "b", line: 7 },
    { path: "lanes", message: "none", line: null },
    { path: "batch", message: "a", line: 2 },
    { path: "seed", message: "c", line: 7 },
  ]);
  assert.deepEqual(
    [...found],
    [
      [2, ["a"]],
      [7, ["b", "c"]],
    ],
  );
});

test("a line is found in the text by its number", () => {
  const text = "ab\n\ncde\n";
  assert.deepEqual(lineRange(text, 3), [4, 7]);
  assert.equal(text.slice(...lineRange(text, 3)), "cde");
  assert.deepEqual(lineRange(text, 2), [3, 3]);
  assert.deepEqual(lineRange(text, 99), [8, 8]);
});
