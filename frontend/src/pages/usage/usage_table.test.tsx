import assert from "node:assert/strict";
import { test } from "node:test";
import type { UsageRow } from "../../api/schema.ts";
import { textOf } from "../../testing/markup.ts";
import { UsageTable } from "./usage_table.tsx";

const row = (fields: Partial<UsageRow>): UsageRow => ({
  key: fields.name ?? "",
  name: "a",
  lane_hours: 1,
  gpu_hours: 1,
  cost: null,
  num_runs: 1,
  unpriced_gpu_hours: 1,
  ...fields,
});
const ROWS = [
  row({ name: "small", gpu_hours: 1, cost: "30.0000", unpriced_gpu_hours: 0 }),
  row({ name: "large", gpu_hours: 3 }),
];

test("rows come by what is measured, with their share of it", () => {
  assert.match(textOf(<UsageTable rows={ROWS} by="project" measure="gpu_hours" />), /large 3 1 no price 1 75\.0 %/);
  const text = textOf(<UsageTable rows={ROWS} by="project" measure="cost" />);
  assert.ok(text.indexOf("small") < text.indexOf("large"));
  assert.match(text, /small 1 1 30\.00 1 100\.0 %/);
});

test("days stay in their order", () => {
  const text = textOf(<UsageTable rows={ROWS} by="day" measure="gpu_hours" />);
  assert.ok(text.indexOf("small") < text.indexOf("large"));
});
