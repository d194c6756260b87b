import assert from "node:assert/strict";
import { test } from "node:test";
import type { Run } from "../../api/schema.ts";
import { run } from "../../testing/builders.ts";
import { attributes, markup, textOf } from "../../testing/markup.ts";
import { FailurePanel } from "./failure_panel.tsx";

const FAILURE: NonNullable<Run["failure"]> = {
  phase: "load_model",
  reason: "`base_model.path` was not found",
  details: "Traceback",
  log_tail: "last line",
  suggestions: ["Check `base_model.path`.", "Ask an admin."],
};

const panel = (fields: Partial<typeof FAILURE> = {}, state: Run["state"] = "failed") => (
  <FailurePanel run={run({ state, failure: { ...FAILURE, ...fields }, attempt: 2 })} />
);

test("it says the reason, when it happened, what to try and the last lines", () => {
  const text = textOf(panel());
  assert.match(text, /base_model\.path was not found/);
  assert.match(text, /during: load model \(attempt 2 of 3\)/);
  assert.match(text, /What to try Check base_model\.path \. Ask an admin\./);
  assert.match(text, /Traceback last line$/);
});

test("names of the spec stand out", () => {
  assert.match(markup(panel()), /<code>base_model\.path<\/code> was not found/);
});

test("what is not known is left out", () => {
  const text = textOf(panel({ phase: "", details: "", log_tail: "", suggestions: [] }));
  assert.doesNotMatch(text, /happened during|What to try|Last log lines|Copy the report/);
});

test("it leads to a changed rerun", () => {
  assert.ok(attributes(panel(), "href").includes("/runs/new?from=run-1"));
});

test("only a failed run has it", () => {
  assert.equal(markup(panel({}, "running")), "");
  assert.equal(markup(<FailurePanel run={run({ state: "failed" })} />), "");
});
