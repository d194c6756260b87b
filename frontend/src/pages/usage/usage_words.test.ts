import assert from "node:assert/strict";
import { test } from "node:test";
import type { DailyUsageRow, UsageRow } from "../../api/schema.ts";
import { measuresUsed, money, priceText, totalsOf, windowOf } from "./usage_words.ts";

const NOON = Date.parse("2026-03-10T12:00:00Z") / 1000;

const row = (fields: Partial<UsageRow> = {}): UsageRow => ({
  key: "p",
  name: "Shapes",
  lane_hours: 4,
  gpu_hours: 3,
  cost: null,
  num_runs: 1,
  unpriced_gpu_hours: 3,
  ...fields,
});

test("a window is whole days of UTC and holds today", () => {
  assert.deepEqual(windowOf("7", "", "", NOON), {
    since: "2026-03-04T00:00:00.000Z",
    until: "2026-03-11T00:00:00.000Z",
  });
});

test("a range of one's own holds its last day, and is nothing while it is incomplete", () => {
  assert.deepEqual(windowOf("own", "2026-01-01", "2026-01-31", NOON), {
    since: "2026-01-01T00:00:00.000Z",
    until: "2026-02-01T00:00:00.000Z",
  });
  assert.equal(windowOf("own", "", "2026-01-31", NOON), null);
  assert.equal(windowOf("own", "2026-02-01", "2026-01-31", NOON), null);
});

test("where nothing had a price, that is said and no number shown", () => {
  assert.equal(totalsOf([row(), row()]).cost, null);
  assert.match(priceText(totalsOf([row()])), /^No price/);
  assert.equal(money(null), "no price");
});

test("where some had one, what the cost leaves out is said", () => {
  const totals = totalsOf([row(), row({ cost: "1234.5000", unpriced_gpu_hours: 0 })]);
  assert.equal(totals.cost, 1234.5);
  assert.match(priceText(totals), /3 of 6 GPU hours had no price/);
  assert.equal(money(totals.cost), "1,234.50");
  assert.doesNotMatch(priceText(totalsOf([row({ cost: "1", unpriced_gpu_hours: 0 })])), /no price/);
});

test("measures that are 0 on all days are not used", () => {
  const days = (fields: Partial<DailyUsageRow>): DailyUsageRow => ({
    key: "p",
    name: "Shapes",
    gpu_hours: [0, 0],
    lane_hours: [0, 2],
    cost: [0, 0],
    ...fields,
  });
  assert.deepEqual(measuresUsed([days({})]), ["lane_hours"]);
  assert.deepEqual(measuresUsed([days({}), days({ gpu_hours: [1, 0] })]), ["gpu_hours", "lane_hours"]);
  assert.deepEqual(measuresUsed([]), []);
});
