import assert from "node:assert/strict";
import { test } from "node:test";
import type { PlannedBatch, PlannedTime, PublishedVersion, TimelineSpan } from "../api/schema.ts";
import { span } from "../testing/builders.ts";
import { batchesBesidePlan, plannedAgainstMeasured, plannedSpans } from "./planned_batches.ts";

const LANES = ["trainer-0", "rollout-0"];
const KINDS = ["generate", "train", "idle"] as const;
const EVERYTHING = { from: -Infinity, to: Infinity };

/** A batch whose lanes do something else every second. */
function batch(seconds: number): PlannedBatch {
  const spans = LANES.flatMap((lane) =>
    Array.from({ length: Math.ceil(seconds) }, (_, second) => ({
      lane,
      kind: KINDS[second % KINDS.length] ?? "idle",
      cause: null,
      start: second,
      end: Math.min(second + 1, seconds),
    })),
  );
  return { seconds, spans };
}

function plan(fields: Partial<PlannedTime> = {}): PlannedTime {
  const all = { revision: 1, since: 0, since_batch: 0, lead: [], cycle: [batch(4)], not_drawn: null };
  return { ...all, ...fields };
}

/** Versions from `first` on, so many seconds apart. */
function versions(apart: readonly number[], first = 0, from = 100): PublishedVersion[] {
  let at = from;
  return [0, ...apart].map((seconds, index) => {
    at += seconds;
    return { policy_version: first + index, at };
  });
}

test("every batch begins at its version, and is cut at the next", () => {
  const found = batchesBesidePlan([plan()], versions([5, 2]), EVERYTHING, false);
  assert.deepEqual(
    found.map(({ version, from, to }) => [version, from, to]),
    [
      [0, 100, 105],
      [1, 105, 107],
    ],
  );
  const [long, short] = found.map((one) => plannedSpans(one, "trainer-0"));
  assert.deepEqual([long?.at(0)?.start, long?.at(-1)?.end], [100, 104]);
  assert.deepEqual([short?.at(0)?.start, short?.at(-1)?.end], [105, 107]);
});

test("a run that follows its plan shows every part as long as planned, at any length of its batches", () => {
  const lead = [batch(7.5), batch(3)];
  const cycle = [batch(2), batch(4.25)];
  const order = [...lead, ...cycle, ...cycle, ...cycle];
  const reported = versions(order.map(({ seconds }) => seconds));
  const spans = order.flatMap((one, index): TimelineSpan[] =>
    one.spans.map(({ cause: _, ...planned }) => {
      const from = reported[index]?.at ?? Number.NaN;
      return span({ ...planned, start: from + planned.start, end: from + planned.end });
    }),
  );
  const batches = batchesBesidePlan([plan({ lead, cycle })], reported, EVERYTHING, false);
  assert.equal(batches.length, order.length);
  for (const one of spans) {
    const against = plannedAgainstMeasured(
      batches,
      one,
      spans.filter(({ lane }) => lane === one.lane),
    );
    assert.ok(against?.part);
    assert.ok(Math.abs(against.part.planned - against.part.measured) < 1e-9);
    assert.equal(against.batch.planned, against.batch.measured);
    const drawn = batches.flatMap((each) => plannedSpans(each, one.lane));
    assert.ok(drawn.some(({ start, end, kind }) => start === one.start && end === one.end && kind === one.kind));
  }
});

test("a batch is held against the plan in force when it began, counted from that plan's first batch", () => {
  const first = plan({ lead: [batch(9)], cycle: [batch(5)] });
  const second = plan({ revision: 2, since: 110, since_batch: 2, cycle: [batch(1), batch(2)] });
  const found = batchesBesidePlan([first, second], versions([6, 4.5, 1, 1]), EVERYTHING, true);
  assert.deepEqual(
    found.map(({ planned }) => planned.seconds),
    [9, 5, 1, 2, 1],
  );
});

test("a batch whose end is not known has no plan: versions left out, a run gone back, an ended run's last", () => {
  const thinned = versions([5, 5]).filter(({ policy_version }) => policy_version !== 1);
  assert.deepEqual(batchesBesidePlan([plan()], thinned, EVERYTHING, false), []);
  const back = [...versions([5]), ...versions([5], 0, 200)];
  assert.deepEqual(
    batchesBesidePlan([plan()], back, EVERYTHING, false).map(({ from }) => from),
    [100, 200],
  );
});

test("only the batches that a window touches are drawn, and none without a plan", () => {
  const reported = versions([5, 5, 5, 5]);
  const inside = batchesBesidePlan([plan()], reported, { from: 106, to: 112 }, false);
  assert.deepEqual(
    inside.map(({ version }) => version),
    [1, 2],
  );
  assert.deepEqual(batchesBesidePlan([plan({ cycle: [] })], reported, EVERYTHING, false), []);
  assert.deepEqual(batchesBesidePlan([plan({ since: 1000 })], reported, EVERYTHING, false), []);
});

test("merged spans are not held against a plan by kind", () => {
  const batches = batchesBesidePlan([plan()], versions([5]), EVERYTHING, false);
  const merged = span({ lane: "trainer-0", start: 100, end: 105, num_spans: 9 });
  assert.deepEqual(plannedAgainstMeasured(batches, merged, [merged]), {
    version: 0,
    batch: { planned: 4, measured: 5 },
    part: null,
  });
});
