import assert from "node:assert/strict";
import { test } from "node:test";
import { curveOf } from "../../live/growing_curve.ts";
import { span } from "../../testing/builders.ts";
import { batchBounds, laneRows, pathsByKind, windowOf } from "./schedule_window.ts";

/** Batches that ended at these times; each point's value is the seconds that a batch took. */
function ended(batches: readonly number[], at: readonly number[], seconds: number) {
  const value = batches.map(() => seconds);
  return curveOf({ batch: [...batches], optimizer_step: [...batches], at: [...at], value, min: value, max: value });
}

test("a range of batches lasts from the end of the batch before to the end of its last", () => {
  const curve = ended([0, 1, 2, 3], [110, 125, 130, 140], 10);
  assert.deepEqual(windowOf(curve, 1, 2), { from: 110, to: 130 });
});

test("the first batch began its own seconds before its end", () => {
  assert.deepEqual(windowOf(ended([0, 1], [110, 120], 10), 0, 1), { from: 100, to: 110 });
});

test("of a thinned curve, mean seconds stand in for the ends that have no point", () => {
  assert.deepEqual(windowOf(ended([9, 19], [200, 300], 10), 12, 2), { from: 220, to: 240 });
});

test("a run that has not come so far has no window", () => {
  assert.equal(windowOf(ended([0, 1], [110, 120], 10), 1, 2), null);
  assert.equal(windowOf(undefined, 0, 1), null);
});

test("batches may be chosen from the first to the last that any run has", () => {
  assert.deepEqual(batchBounds([undefined, ended([2, 5], [1, 2], 1), ended([0, 3], [1, 2], 1)]), { first: 0, last: 5 });
  assert.equal(batchBounds([undefined]), null);
});

test("trainer lanes stand first, numbered lanes in their order", () => {
  const spans = ["rollout-10", "rollout-2", "trainer-0"].map((lane) => span({ lane }));
  assert.deepEqual(
    laneRows(spans).map(([lane]) => lane),
    ["trainer-0", "rollout-2", "rollout-10"],
  );
});

test("spans are cut at the window, and those outside are not drawn", () => {
  const rows = laneRows([span({ start: -5, end: 2 }), span({ kind: "train", start: 20, end: 21 })]);
  const paths = pathsByKind(rows, { from: 0, to: 10 });
  assert.deepEqual([...paths], [["generate", "M0.000 0.1H2.000V0.9H0.000Z"]]);
});
