import assert from "node:assert/strict";
import { test } from "node:test";
import { idleCauseValues, spanKindValues } from "../api/schema.ts";
import { causeLabel, classLabel, classOf, parseClass, SPAN_CLASSES } from "./classes.ts";

test("every kind of the contract has a label and a colour of its own, idle stands last", () => {
  assert.deepEqual(SPAN_CLASSES.map(({ kind }) => kind).sort(), [...spanKindValues].sort());
  assert.equal(new Set(SPAN_CLASSES.map(({ colour }) => colour)).size, SPAN_CLASSES.length);
  assert.equal(SPAN_CLASSES.at(-1)?.kind, "idle");
});

test("every cause of the contract is said in words", () => {
  for (const cause of idleCauseValues) assert.ok(!causeLabel(cause).includes("_"), cause);
});

test("idle classes carry their cause in words", () => {
  assert.equal(parseClass("idle:head_of_line").cause, "head_of_line");
  assert.equal(classLabel("idle:publish_wait"), "Idle: waiting for a new version");
  assert.equal(classLabel("train"), "Train");
});

test("what only the server knows is named by its own words", () => {
  assert.equal(classLabel("unaccounted"), "unaccounted");
  assert.equal(classOf("a_new_kind").label, "a new kind");
  assert.equal(causeLabel("a_new_cause"), "a new cause");
});
