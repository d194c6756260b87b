import assert from "node:assert/strict";
import { test } from "node:test";
import type { PlannedTime } from "../api/schema.ts";
import { span, timeline } from "../testing/builders.ts";
import { rowTop } from "./layout.ts";
import { TimelineState } from "./timeline_state.ts";

const WIDE = 1132;
const NARROW = 600;
const PLANNED = { lane: "trainer-0", kind: "train" as const, cause: null, start: 0, end: 30 };
const PLAN: PlannedTime = {
  revision: 1,
  since: 0,
  since_batch: 0,
  lead: [],
  cycle: [{ seconds: 40, spans: [PLANNED] }],
  not_drawn: null,
};

/** A run of two batches of 50 s, in which its trainer works for 45 s each, and the plans read so far. */
function run(plans: readonly PlannedTime[]) {
  let numReads = 0;
  const read = async () => {
    numReads += 1;
    return plans;
  };
  const state = new TimelineState(() => 0, { plans: read });
  const train = (start: number) => span({ lane: "trainer-0", kind: "train", start, end: start + 45 });
  const versions = [100, 150, 200].map((at, policy_version) => ({ policy_version, at }));
  state.load(timeline({ spans: [train(100), train(150)], versions }));
  return { state, reads: () => numReads };
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

test("plans are read once, when lanes are drawn where there is room for them", async () => {
  const { state, reads } = run([PLAN]);
  assert.equal(reads(), 0);
  state.prepare(NARROW);
  assert.equal(reads(), 0, "a phone has no room");
  state.prepare(WIDE);
  state.prepare(WIDE);
  await settled();
  assert.equal(reads(), 1);
  assert.deepEqual(
    state.plannedBatches.map(({ version }) => version),
    [0, 1],
  );
  state.prepare(NARROW);
  assert.deepEqual(state.plannedBatches, []);
});

test("a span says what was planned of its batch and of its kind, until the plan is switched off", async () => {
  const { state } = run([PLAN]);
  state.prepare(WIDE);
  await settled();
  const point = () => state.point(WIDE / 2 - 100, rowTop(state.layout, 0) + 12);
  point();
  assert.deepEqual(state.selection.value?.plan, {
    version: 0,
    batch: { planned: 40, measured: 50 },
    part: { planned: 30, measured: 45 },
  });
  assert.ok(state.layout.planHeight > 0);
  state.plan.isOn.value = false;
  point();
  assert.equal(state.selection.value?.plan, null);
  assert.equal(state.layout.planHeight, 0);
});

test("a run that adopts a plan has its plans read anew", async () => {
  const { state, reads } = run([PLAN]);
  state.prepare(WIDE);
  await settled();
  state.plan.reset();
  state.prepare(WIDE);
  assert.equal(reads(), 2);
});

test("a plan that is not drawn says why and takes no room, and a run without a plan offers none", async () => {
  const tooLarge = run([{ ...PLAN, cycle: [], not_drawn: "too many lanes" }]);
  tooLarge.state.prepare(WIDE);
  await settled();
  assert.deepEqual([tooLarge.state.plan.isOffered, tooLarge.state.plan.notDrawn], [true, "too many lanes"]);
  assert.equal(tooLarge.state.layout.planHeight, 0);
  const without = run([]);
  without.state.prepare(WIDE);
  await settled();
  assert.equal(without.state.plan.isOffered, false);
});

test("batches too narrow to tell their parts are not drawn", () => {
  const { state } = run([PLAN]);
  const window = { from: 0, to: 10_000 };
  assert.deepEqual(state.plan.batches([{ policy_version: 0, at: 0 }], window, true, 10), []);
});
