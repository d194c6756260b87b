import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import type { CurvesAsked } from "../api/endpoints.ts";
import type { Curves } from "../api/schema.ts";
import { settled } from "../testing/browser.ts";
import { curvesAnswer, logItem, metricsItem, resumedItem, series } from "../testing/builders.ts";
import { MetricStore } from "./metric_store.ts";

let store: MetricStore;
let asked: CurvesAsked[];
let answer: (asked: CurvesAsked) => Curves | Promise<Curves>;

beforeEach(() => {
  asked = [];
  answer = () => curvesAnswer({});
  store = new MetricStore(async (one) => {
    asked.push(one);
    return answer(one);
  });
});

test("a curve grows by items", () => {
  store.load(curvesAnswer({ "reward/mean": series([0.1]) }, 4));
  store.apply(metricsItem(5, 2, { "reward/mean": 0.3 }));
  assert.deepEqual(store.curve("reward/mean")?.value, [0.1, 0.3]);
  assert.equal(store.first("reward/mean"), 0.1);
  assert.equal(store.last("reward/mean"), 0.3);
});

test("a metric reported for the first time begins its curve, without a question to the server", async () => {
  assert.ok(store.apply(metricsItem(1, 1, { "reward/mean": 1, "reward/part/ocr": 2 })));
  assert.deepEqual([...store.keys], ["reward/mean", "reward/part/ocr"]);
  assert.deepEqual(store.stored("reward/part/ocr")?.value, [2]);
  await settled();
  assert.deepEqual(asked, []);
});

test("items of other types change nothing", () => {
  assert.equal(store.apply(logItem(1)), false);
  assert.equal(store.keys.size, 0);
});

test("a resumed attempt takes back points of every curve", () => {
  for (const batch of [1, 2, 3]) store.apply(metricsItem(batch, batch, { "reward/mean": batch, "policy/kl": 0 }));
  assert.ok(store.apply(resumedItem(4, 1)));
  assert.deepEqual([store.curve("reward/mean")?.batch, store.curve("policy/kl")?.batch], [[1], [1]]);
});

test("a REST answer replaces what was there, notifies readers, and covers its number", () => {
  store.apply(metricsItem(1, 1, { "policy/kl": 1 }));
  const before = store.version.value;
  store.load(curvesAnswer({ "reward/mean": series([1, 2]) }, 9));
  assert.deepEqual([...store.keys], ["reward/mean"]);
  assert.equal(store.version.value, before + 1);
  assert.equal(store.gate.last, 9);
});

test("curves that are shown are read together, once, and only those the run has reported", async () => {
  store.load(curvesAnswer({}, 3, ["policy/kl", "eval/reward", "policy/loss"]));
  answer = () => curvesAnswer({ "policy/kl": series([1]), "eval/reward": series([2]) }, 3);
  assert.equal(store.curve("policy/kl"), undefined);
  store.ask(["eval/reward", "never/reported"], 750);
  store.ask(["policy/kl"], 250);
  await settled();
  assert.deepEqual(asked, [{ keys: ["policy/kl", "eval/reward"], max_points: 750 }]);
  assert.deepEqual([store.last("policy/kl"), store.last("eval/reward")], [1, 2]);
  await settled();
  assert.equal(asked.length, 1);
});

test("what the socket sends while a curve is read joins the answer once", async () => {
  store.load(curvesAnswer({}, 3, ["policy/kl"]));
  let arrive: (curves: Curves) => void = () => undefined;
  answer = () => new Promise((resolve) => (arrive = resolve));
  store.ask(["policy/kl"], 500);
  await settled();
  for (const seq of [4, 5, 6]) store.apply(metricsItem(seq, seq, { "policy/kl": seq }));
  arrive(curvesAnswer({ "policy/kl": { ...series([3, 4]), batch: [3, 4] } }, 4));
  await settled();
  store.apply(metricsItem(7, 7, { "policy/kl": 7 }));
  assert.deepEqual(store.curve("policy/kl")?.value, [3, 4, 5, 6, 7]);
});

test("a wider panel reads a thinned curve anew, and leaves an exact one alone", async () => {
  answer = ({ keys, max_points }) =>
    curvesAnswer(Object.fromEntries(keys.map((key) => [key, series(Array.from({ length: max_points }, () => 1))])), 1);
  store.load(curvesAnswer({ thin: series(Array.from({ length: 500 }, () => 0)), exact: series([1, 2]) }, 1));
  store.ask(["thin", "exact"], 1250);
  await settled();
  assert.deepEqual(asked, [{ keys: ["thin"], max_points: 1250 }]);
  store.ask(["thin"], 500);
  await settled();
  assert.equal(asked.length, 1);
});

test("a read that fails is told, is not tried again by itself, and is when asked to", async () => {
  store.load(curvesAnswer({}, 1, ["policy/kl"]));
  answer = () => Promise.reject(new Error("no server"));
  store.curve("policy/kl");
  await settled();
  assert.equal(store.problem.value, "no server");
  store.curve("policy/kl");
  await settled();
  assert.equal(asked.length, 1);
  answer = () => curvesAnswer({ "policy/kl": series([1]) }, 1);
  store.retry();
  store.curve("policy/kl");
  await settled();
  assert.deepEqual([store.problem.value, store.last("policy/kl")], [null, 1]);
});

/** A day of batches of two seconds with ten metrics, as the socket sends them. */
const [DAY_BATCHES, NUM_METRICS] = [43_200, 10];

test("a day of live points keeps a bounded number of them, from the run's begin to its end", async () => {
  const keys = Array.from({ length: NUM_METRICS }, (_, index) => `metric/${index}`);
  let seq = 0;
  // The server's thinning: evenly spread points, the last among them.
  answer = ({ keys: wanted, max_points }) => {
    const spread = Array.from({ length: max_points }, (_, index) => Math.ceil(((index + 1) * seq) / max_points));
    const thinned = { ...series(spread), batch: spread, optimizer_step: spread.map((batch) => batch * 4) };
    return curvesAnswer(Object.fromEntries(wanted.map((key) => [key, thinned])), seq);
  };
  let most = 0;
  for (seq = 1; seq <= DAY_BATCHES; seq += 1) {
    store.apply(metricsItem(seq, seq, Object.fromEntries(keys.map((key) => [key, seq]))));
    if (seq % 100 === 0) await settled(0);
    for (const key of keys) most = Math.max(most, store.stored(key)?.batch.length ?? 0);
  }
  assert.ok(most <= 1100, `${most} points`);
  const curve = store.stored("metric/3");
  assert.deepEqual([curve?.batch.at(-1), (curve?.batch[0] ?? 0) < 100], [DAY_BATCHES, true]);
});

test("while the server fails, a day of live points is bounded all the same", async () => {
  answer = () => Promise.reject(new Error("no server"));
  for (let seq = 1; seq <= DAY_BATCHES; seq += 1) {
    store.apply(metricsItem(seq, seq, { "policy/kl": seq }));
    if (seq % 1000 === 0) await settled(0);
    assert.ok((store.stored("policy/kl")?.batch.length ?? 0) <= 2001);
  }
});
