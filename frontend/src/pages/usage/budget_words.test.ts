import assert from "node:assert/strict";
import { test } from "node:test";
import type { Budget } from "../../api/schema.ts";
import { spentShare, spentText, stateText } from "./budget_words.ts";

const BUDGET: Budget = {
  project_id: "p",
  project_name: "Shapes",
  amount: "1000.0000",
  unit: "gpu_hours",
  period: "month",
  warn_at: 0.8,
  when_spent: "hold",
  spent: "312.3456",
  is_near: false,
  is_spent: false,
  begins_at: "2026-11-01T00:00:00Z",
  ends_at: "2026-12-01T00:00:00Z",
};

test("amounts are said with unit, period and warning", () => {
  assert.equal(spentText(BUDGET), "312 of 1,000 GPU hours this month, warned of from 80 %");
  assert.match(spentText({ ...BUDGET, period: "whole" }), /GPU hours since 1 Nov/);
});

test("what holds is said once it is near or spent", () => {
  assert.equal(stateText(BUDGET), "");
  assert.equal(stateText({ ...BUDGET, is_near: true }), "Nearly spent.");
  assert.equal(stateText({ ...BUDGET, is_near: true, is_spent: true }), "Spent: let no further run begin.");
});

test("the bar is full where more is spent than there is, and where nothing may be spent", () => {
  assert.equal(spentShare({ ...BUDGET, spent: "500" }), 0.5);
  assert.equal(spentShare({ ...BUDGET, spent: "5000" }), 1);
  assert.equal(spentShare({ ...BUDGET, amount: "0", spent: "0" }), 1);
});
