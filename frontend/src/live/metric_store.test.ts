import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { logItem, metricsItem, resumedItem, series } from "../testing/builders.ts";
import { curveOf, MetricStore } from "./metric_store.ts";

let store: MetricStore;

beforeEach(() => {
  store = new MetricStore();
});

test("a curve grows by items and repeats replace", () => {
  store.load({ series: { "reward/mean": series([0.1]) }, stream_seq: 4 });
  store.apply(metricsItem(5, 2, { "reward/mean": 0.2 }));
  store.apply(metricsItem(6, 2, { "reward/mean": 0.3 }));
  assert.deepEqual(store.curve("reward/mean")?.value, [0.1, 0.3]);
  assert.equal(store.first("reward/mean"), 0.1);
  assert.equal(store.last("reward/mean"), 0.3);
});

test("every column grows with the point, its envelope being the value itself", () => {
  store.apply(metricsItem(7, 3, { "policy/kl": 0.5 }));
  assert.deepEqual(store.curve("policy/kl"), {
    batch: [3],
    optimizer_step: [12],
    at: [7],
    value: [0.5],
    min: [0.5],
    max: [0.5],
  });
});

test("one item may hold several curves, and makes those that are new", () => {
  assert.ok(store.apply(metricsItem(1, 1, { "reward/mean": 1, "reward/part/ocr": 2 })));
  assert.deepEqual([...store.curves.keys()], ["reward/mean", "reward/part/ocr"]);
});

test("a resumed attempt takes back the points after its batch", () => {
  for (const batch of [1, 2, 3]) store.apply(metricsItem(batch, batch, { "reward/mean": batch }));
  assert.ok(store.apply(resumedItem(4, 1)));
  assert.deepEqual(store.curve("reward/mean")?.batch, [1]);
  assert.deepEqual(store.curve("reward/mean")?.max, [1]);
  store.apply(metricsItem(5, 2, { "reward/mean": 9 }));
  assert.deepEqual(store.curve("reward/mean")?.value, [1, 9]);
});

test("a resumed attempt leaves curves that never reached so far as they are", () => {
  store.apply(metricsItem(1, 1, { "eval/reward": 5 }));
  store.apply(resumedItem(2, 1));
  assert.deepEqual(store.curve("eval/reward")?.value, [5]);
});

test("items of other types change nothing", () => {
  assert.equal(store.apply(logItem(1)), false);
  assert.equal(store.curves.size, 0);
});

test("a REST answer replaces what was there, tells readers, and covers its number", () => {
  store.apply(metricsItem(1, 1, { "policy/kl": 1 }));
  const before = store.version.value;
  store.load({ series: { "reward/mean": series([1, 2]) }, stream_seq: 9 });
  assert.deepEqual([...store.curves.keys()], ["reward/mean"]);
  assert.equal(store.version.value, before + 1);
  assert.equal(store.gate.last, 9);
});

test("a curve that grows leaves the answer it came from alone", () => {
  const answer = series([1, 2], 0.5);
  const curve = curveOf(answer);
  curve.value.push(3);
  assert.deepEqual(answer.value, [1, 2]);
  assert.deepEqual(
    [curve.min, curve.max],
    [
      [0.5, 1.5],
      [1.5, 2.5],
    ],
  );
});

test("a curve that was never reported has neither first nor last", () => {
  assert.deepEqual([store.first("eval/reward"), store.last("eval/reward")], [undefined, undefined]);
});
