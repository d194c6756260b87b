import assert from "node:assert/strict";
import { test } from "node:test";
import type { StreamItem } from "../src/api/types.ts";
import { reconnectDelay } from "../src/live/backoff.ts";
import { ItemList, isEvent, isLog } from "../src/live/item_list.ts";
import { decisionBehind, withLend } from "../src/live/lends.ts";
import { MetricStore } from "../src/live/metric_store.ts";
import { SequenceGate } from "../src/live/sequence_gate.ts";
import { TimelineStore } from "../src/live/timeline_store.ts";

const item = (stream_seq: number, type: string, body: Record<string, unknown>): StreamItem => ({
  stream_seq,
  type,
  at: stream_seq,
  attempt: 1,
  body,
});
const metrics = (seq: number, batch: number, value: number) =>
  item(seq, "metrics", { batch, optimizer_step: batch, values: { "reward/mean": value } });

test("an item is admitted once, and nothing that the snapshot covered", () => {
  const gate = new SequenceGate();
  gate.cover(10);
  assert.deepEqual(
    [9, 10, 11, 11, 13, 12].map((seq) => gate.admit(seq)),
    [false, false, true, false, true, false],
  );
});

test("a curve grows by items and repeats replace", () => {
  const store = new MetricStore();
  store.load({ series: { "reward/mean": { batch: [1], step: [1], at: [0], value: [0.1] } }, stream_seq: 4 });
  store.apply(metrics(5, 2, 0.2));
  store.apply(metrics(6, 2, 0.3));
  assert.deepEqual(store.curves.get("reward/mean")?.value, [0.1, 0.3]);
  assert.equal(store.first("reward/mean"), 0.1);
  assert.equal(store.last("reward/mean"), 0.3);
});

test("a resumed attempt takes back the points after its batch", () => {
  const store = new MetricStore();
  for (const batch of [1, 2, 3]) store.apply(metrics(batch, batch, batch));
  store.apply(item(4, "resumed", { batch: 1 }));
  assert.deepEqual(store.curves.get("reward/mean")?.batch, [1]);
  store.apply(metrics(5, 2, 9));
  assert.deepEqual(store.curves.get("reward/mean")?.value, [1, 9]);
});

test("late spans are put in their place and lanes in order of role", () => {
  const store = new TimelineStore();
  const span = (lane: string, start: number) => ({ lane, kind: "generate", start, end: start + 1 });
  store.apply(
    item(1, "spans", {
      spans: [span("rollout-10", 5), span("rollout-2", 1), span("rollout-10", 3), span("trainer-0", 0)],
    }),
  );
  assert.deepEqual(
    store.tracks.map((track) => track.lane),
    ["trainer-0", "rollout-2", "rollout-10"],
  );
  assert.deepEqual(
    store.tracks[2]?.spans.map((one) => one.start),
    [3, 5],
  );
  assert.deepEqual(store.extent(), { from: 0, to: 6 });
});

test("a REST answer that reaches beyond its number is not doubled by the socket", () => {
  const list = new ItemList(isEvent);
  list.load([item(12, "phase", {}), item(11, "log", {}), item(7, "phase", {})], 10);
  list.apply(item(12, "phase", {}));
  list.apply(item(13, "phase", {}));
  list.flush();
  assert.deepEqual(
    list.items.value.map((one) => one.stream_seq),
    [7, 12, 13],
  );
});

test("log lines and events are told apart", () => {
  assert.ok(isLog(item(1, "log", {})) && !isEvent(item(1, "log", {})));
  assert.ok(isEvent(item(1, "gate", {})) && !isEvent(item(1, "spans", {})));
});

test("reconnecting backs off to a bound and is spread", () => {
  assert.ok(reconnectDelay(0, 0) < reconnectDelay(3, 0));
  assert.equal(reconnectDelay(50, 0.999) <= 15_000, true);
  assert.ok(reconnectDelay(4, 0) < reconnectDelay(4, 0.9));
});

const lend = (seq: number, decision: number, predicted: number | null, realised: number | null) =>
  item(seq, "lend", {
    decision,
    batch: 1,
    lanes: ["trainer-0"],
    num_fragments: 1,
    predicted_gain_seconds: predicted,
    realised_gain_seconds: realised,
  });

test("a decision to lend is settled by a second item, not told twice", () => {
  const store = new TimelineStore();
  for (const told of [lend(1, 1, 2, null), lend(2, 2, 1, null), lend(3, 1, 2, 1.5)]) assert.ok(store.apply(told));
  assert.deepEqual(
    store.lends.map((one) => [one.decision, one.at, one.settled_at, one.realised_gain_seconds]),
    [
      [1, 1, 3, 1.5],
      [2, 2, null, null],
    ],
  );
});

test("decisions counted anew are new ones", () => {
  const store = new TimelineStore();
  for (const told of [lend(1, 1, null, null), lend(2, 1, null, null)]) store.apply(told);
  assert.equal(store.lends.length, 2);
  assert.equal(withLend([], store.lends[0] as never).length, 1);
});

test("a lent span belongs to the newest decision for its lane", () => {
  const store = new TimelineStore();
  for (const told of [lend(1, 1, null, null), lend(5, 2, null, null)]) store.apply(told);
  assert.equal(decisionBehind(store.lends, "trainer-0", 4)?.decision, 1);
  assert.equal(decisionBehind(store.lends, "trainer-0", 9)?.decision, 2);
  assert.equal(decisionBehind(store.lends, "trainer-1", 9), undefined);
});
