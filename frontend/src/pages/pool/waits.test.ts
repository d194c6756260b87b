import assert from "node:assert/strict";
import { test } from "node:test";
import type { GpuTest, PoolGpu } from "../../api/schema.ts";
import { poolGpu, poolLane } from "../../testing/builders.ts";
import { gpuTest } from "../../testing/gpu_tests.ts";
import { waitsOf } from "./waits.tsx";

const HELD = poolLane(5, {
  kind: "gpu",
  run_id: "r",
  run_name: "sweep",
  role: "rollout",
  held_since: "2026-01-01T00:00:00Z",
});
const held = (next: PoolGpu["state_when_free"], fields: Partial<PoolGpu> = {}) =>
  waitsOf(poolGpu(0, { state: "allocated", state_when_free: next, ...fields }), HELD);
const free = (state: PoolGpu["state"], fields: Partial<PoolGpu> = {}) =>
  waitsOf(poolGpu(0, { state, state_when_free: state, ...fields }), undefined);
const queued = (fields: Partial<GpuTest> = {}) => ({ test: gpuTest({ state: "queued", ...fields }) });

test("what is in service waits for nothing", () => {
  assert.deepEqual(held("available"), []);
  assert.deepEqual(free("available"), []);
});

test("a drain waits for the run, by its deadline if it has one", () => {
  assert.match(held("draining").join(), /^Draining waits until sweep has ended: it was drained without a time/);
  const [text = ""] = held("draining", { until: "2026-01-01T16:00:00Z" });
  assert.match(text, /^Draining waits until sweep has left the lane: it is moved to free lanes, or at .* saved/);
  assert.match(free("draining").join(), /^Drained: nothing runs on it/);
});

test("a run of another project is waited for without its name", () => {
  const lane = { ...HELD, run_id: null, run_name: "a run of another project" };
  const gpu = poolGpu(0, { state: "allocated", state_when_free: "draining" });
  assert.match(waitsOf(gpu, lane).join(), /until A run of another project has ended/i);
});

test("a test says what it waits for, and how far it is", () => {
  assert.deepEqual(free("awaiting_test", queued({ reason: "waits until the run on its lane has ended" })), [
    "Its test waits until the run on its lane has ended.",
  ]);
  assert.deepEqual(free("awaiting_test", queued()), ["Its test is about to begin."]);
  const running = gpuTest({ state: "running", steps: [{ name: "device", outcome: "passed", seconds: 1, detail: "" }] });
  assert.deepEqual(free("awaiting_test", { test: running }), ["Its test is under way, step 2 of 5."]);
});

test("with a test asked for under a run, both are said in their order", () => {
  const texts = held("awaiting_test", queued({ reason: "waits until the run on its lane has ended" }));
  assert.deepEqual(texts, ["sweep has its lane until it ends.", "Its test waits until the run on its lane has ended."]);
});

test("maintenance, faults and cordons say who has to do what", () => {
  assert.match(free("maintenance").join(), /until somebody resumes it; then it is tested/);
  assert.match(
    free("maintenance", { place: "node gpu0" }).join(),
    /until somebody resumes node gpu0; then its GPUs are tested/,
  );
  assert.match(free("faulty", { remedy: "reset GPU" }).join(), /Recommended: reset GPU\. Then it returns by a test/);
  assert.match(free("cordoned").join(), /until somebody resumes it/);
  assert.match(free("lost").join(), /comes back by itself/);
});
