import assert from "node:assert/strict";
import { test } from "node:test";
import { CsvRefused, csvRows } from "./csv.ts";

const rows = (text: string, most = 100) => csvRows(text, most);

test("cells may hold commas, line ends and doubled quotes when quoted", () => {
  assert.deepEqual(rows('id,prompt\r\n1,"a ""red"" square, big"\n2,"two\nlines"\n'), [
    ["id", "prompt"],
    ["1", 'a "red" square, big'],
    ["2", "two\nlines"],
  ]);
});

test("empty cells are kept, at the end too, and empty rows are left out", () => {
  assert.deepEqual(rows("a,,c\n\n,,\nd,e,"), [
    ["a", "", "c"],
    ["d", "e", ""],
  ]);
  assert.deepEqual(rows("a,\nb"), [["a", ""], ["b"]]);
});

test("a byte order mark is no part of the first cell", () => {
  assert.deepEqual(rows("\ufeffprompt\nx"), [["prompt"], ["x"]]);
});

test("what is no CSV is refused with its row", () => {
  assert.throws(() => rows('a\n"open'), new CsvRefused("the quotes that row 2 opens are never closed"));
  assert.throws(() => rows('a\n"b"c'), /row 2 has text after a quoted cell/);
});

test("reading stops at the ceiling", () => {
  assert.throws(() => rows("a\nb\nc\n", 2), /must have ≤ 2 rows/);
});
