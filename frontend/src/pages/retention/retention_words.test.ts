import assert from "node:assert/strict";
import { test } from "node:test";
import { days, keptFor, sumsText } from "./retention_words.ts";

test("sums are told with their nouns in number", () => {
  assert.equal(
    sumsText({ num_runs: 1, num_rows: 12_345_678, num_files: 1, num_bytes: 2048 }),
    "12,345,678 rows and 1 file of 1 run, about 2.0 KiB",
  );
});

test("nothing set is kept for good", () => {
  assert.deepEqual([0, 1, 90].map(keptFor), ["for good", "1 day", "90 days"]);
});

test("two ends on one day are that day, and none is a dash", () => {
  assert.equal(days("2026-01-02T03:00:00Z", "2026-01-02T04:00:00Z"), "2026-01-02");
  assert.equal(days("2025-12-31T03:00:00Z", "2026-01-02T04:00:00Z"), "2025-12-31 to 2026-01-02");
  assert.equal(days(null, null), "–");
});
