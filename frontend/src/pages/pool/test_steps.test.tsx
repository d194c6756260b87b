import assert from "node:assert/strict";
import { test } from "node:test";
import type { GpuTestStep } from "../../api/schema.ts";
import { gpuTest } from "../../testing/gpu_tests.ts";
import { textOf } from "../../testing/markup.ts";
import { standings, TestSteps } from "./test_steps.tsx";

const step = (fields: Partial<GpuTestStep> = {}): GpuTestStep => ({
  name: "device",
  outcome: "passed",
  seconds: 1.5,
  detail: "",
  ...fields,
});
const standingsOf = (...parameters: Parameters<typeof standings>) =>
  standings(...parameters).map(({ standing }) => standing);

test("the step after those that have ended is under way, and the others are to come", () => {
  assert.deepEqual(standingsOf(gpuTest({ steps: [step()] })), ["passed", "under way", "to come", "to come", "to come"]);
});

test("a test that has not begun has no step under way", () => {
  assert.deepEqual(new Set(standingsOf(gpuTest({ state: "queued" }))), new Set(["to come"]));
});

test("what a failed test did not come to is not shown as to come", () => {
  const failed = gpuTest({
    state: "failed",
    ended_at: "2026-01-01T00:01:00Z",
    steps: [step({ outcome: "failed", detail: "another GPU answers" })],
    reason: "device: another GPU answers",
  });
  assert.deepEqual(standingsOf(failed), ["failed", "not reached", "not reached", "not reached", "not reached"]);
  const text = textOf(<TestSteps test={failed} />);
  assert.match(text, /failed at .* after 50 s , requested by alice: device: another GPU answers/);
  assert.match(text, /The right GPU failed, 1\.5 s another GPU answers/);
});

test("a skipped step says why and no time", () => {
  const text = textOf(
    <TestSteps test={gpuTest({ steps: [step({ name: "all_reduce", outcome: "skipped", detail: "no other GPU" })] })} />,
  );
  assert.match(text, /All-reduce with a peer skipped no other GPU/);
});
