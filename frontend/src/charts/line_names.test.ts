import assert from "node:assert/strict";
import { test } from "node:test";
import { apart, shortened } from "./line_names.ts";

test("names of lines that end close together stand apart, in the lines' order and within the chart", () => {
  assert.deepEqual(apart([50, 52, 10], 14, 0, 100), [50, 64, 10]);
  assert.deepEqual(apart([99, 98], 14, 0, 100), [100, 86]);
});

test("a long name is cut in the middle, since names of runs differ at their end", () => {
  const context = { measureText: (text: string) => ({ width: 10 * text.length }) as TextMetrics };
  assert.equal(shortened(context, "baseline-seed-1", 90), "base…ed-1");
  assert.equal(shortened(context, "short", 90), "short");
});
