import assert from "node:assert/strict";
import { test } from "node:test";
import type { Span } from "../src/live/timeline_store.ts";
import { classLabel, parseClass } from "../src/timeline/classes.ts";
import { firstEndingAfter, spanAt } from "../src/timeline/search.ts";
import { busyShare, largestLoss, ordered, roles } from "../src/timeline/shares.ts";
import { fitted, followed, panned, tickLabel, ticks, zoomed } from "../src/timeline/view.ts";

const extent = { from: 0, to: 100 };
const view = { from: 20, to: 40, follow: false };
const span = (start: number, end: number): Span => ({
  kind: "train",
  start,
  end,
  cause: null,
  batch: null,
  group: null,
  version: null,
  num_samples: 0,
});

test("zooming keeps the instant under the pointer where it is", () => {
  const closer = zoomed(view, 0.5, 25, extent);
  assert.equal(closer.to - closer.from, 10);
  assert.equal((25 - closer.from) / 10, (25 - view.from) / 20);
});

test("zooming while following keeps the right edge", () => {
  const closer = zoomed({ ...view, follow: true }, 0.5, 25, extent);
  assert.deepEqual(closer, { from: 30, to: 40, follow: true });
});

test("panning stops following and never loses the recorded time", () => {
  const far = panned({ ...view, follow: true }, 1e6, extent);
  assert.equal(far.follow, false);
  assert.ok(far.from < extent.to);
  assert.ok(panned(view, -1e6, extent).to > extent.from);
});

test("fitting shows everything, following keeps the width", () => {
  const all = fitted(extent, false);
  assert.ok(all.from <= 0 && all.to >= 100);
  const now = followed(view, extent);
  assert.ok(now.to > 100 && Math.abs(now.to - now.from - 20) < 1e-9);
});

test("ticks are round and labelled as finely as needed", () => {
  assert.deepEqual(
    ticks({ from: 1000, to: 1060, follow: false }, 6, 1000).map((tick) => tick.at - 1000),
    [0, 10, 20, 30, 40, 50, 60],
  );
  assert.equal(tickLabel(65, 5), "1:05");
  assert.equal(tickLabel(5.5, 0.5), "0:05.5");
  assert.equal(tickLabel(7265, 60), "2:01:05");
  assert.equal(tickLabel(-3, 1), "−0:03");
});

test("the span under an instant is found, a gap has none, a hair-thin one is hit with slack", () => {
  const spans = [span(0, 1), span(1, 1.001), span(5, 6)];
  assert.equal(firstEndingAfter(spans, 3), 2);
  assert.equal(spanAt(spans, 0.5, 0), spans[0]);
  assert.equal(spanAt(spans, 3, 0.1), null);
  assert.equal(spanAt(spans, 1.05, 0.1), spans[1]);
  assert.equal(spanAt(spans, 4.95, 0.1), spans[2]);
});

test("idle classes carry their cause in words", () => {
  assert.equal(parseClass("idle:head_of_line").cause, "head_of_line");
  assert.equal(classLabel("idle:publish_wait"), "Idle: waiting for a new version");
  assert.equal(classLabel("train"), "Train");
});

const BUBBLES = {
  total_seconds: 100,
  by_lane: {},
  stream_seq: 1,
  by_class: { train: 30, generate: 20, "idle:publish_wait": 10, "idle:start_up": 40 },
  by_role: {
    reward: { "idle:no_fragment_ready": 50 },
    rollout: { generate: 20, "idle:publish_wait": 10 },
    trainer: { train: 30, "idle:start_up": 40 },
  },
};

test("work comes before idling, and the longest idling first", () => {
  assert.deepEqual(
    ordered(BUBBLES.by_class).map(([name]) => name),
    ["generate", "train", "idle:start_up", "idle:publish_wait"],
  );
  assert.equal(busyShare(BUBBLES.by_class), 0.5);
  assert.equal(busyShare({}), 0);
});

test("the largest loss is neither a run's beginning nor a reward lane's waiting", () => {
  const loss = largestLoss(BUBBLES);
  assert.deepEqual([loss?.role, loss?.name, loss?.share], ["rollout", "idle:publish_wait", 0.1]);
  assert.equal(largestLoss({ ...BUBBLES, by_role: { trainer: { train: 1 } } }), null);
});

test("roles stand as the timeline shows them", () => {
  assert.deepEqual(
    roles(BUBBLES).map(([role]) => role),
    ["trainer", "rollout", "reward"],
  );
  assert.deepEqual(
    roles({ ...BUBBLES, by_role: { driver: {}, trainer: {} } }).map(([role]) => role),
    ["trainer", "driver"],
  );
});
