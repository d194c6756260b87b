import assert from "node:assert/strict";
import { test } from "node:test";
import { MetricStore } from "../../live/metric_store.ts";
import { metricsItem, run, spec } from "../../testing/builders.ts";
import { figuresOf } from "./headline_figures.ts";

const RUN = run({
  spec: spec([{}, { name: "shape_judge", watched: true }, { name: "ocr", watched: true }]),
  headline: { num_samples: 50 },
});

function store(after = { reward: 0.7, judge: 0.5 }): MetricStore {
  const metrics = new MetricStore(() => Promise.reject(new Error("nothing to read")));
  metrics.apply(metricsItem(1, 0, { "eval/reward": 0.3, "eval/part/shape_judge": 0.25 }));
  metrics.apply(metricsItem(2, 5, { "reward/mean": 0.5, "reward/std": 0.25, "reward/missing/ocr": 2 }));
  metrics.apply(metricsItem(3, 10, { "eval/reward": after.reward, "eval/part/shape_judge": after.judge }));
  return metrics;
}

test("the held-out reward stands first, from the first evaluation to the newest", () => {
  const [reward] = figuresOf(store(), RUN);
  assert.deepEqual(
    [reward?.label, reward?.before, reward?.after, reward?.change],
    ["Held-out reward", "0.3", "0.7", "+0.4"],
  );
});

test("a verdict is shown as an accuracy, any other monitored reward as it is", () => {
  const [, verdict, other] = figuresOf(store(), RUN);
  assert.deepEqual(
    [verdict?.label, verdict?.before, verdict?.after, verdict?.change],
    ["Accuracy (Shape judge)", "25 %", "50 %", "+25 points"],
  );
  assert.deepEqual([other?.label, other?.before], ["OCR", null]);
});

test("the change is the difference of the values that are shown", () => {
  const [, verdict] = figuresOf(store({ reward: 0.3, judge: 0.2549 }), RUN);
  assert.deepEqual([verdict?.before, verdict?.after, verdict?.change], ["25.0 %", "25.5 %", "+0.5 points"]);
  const [same] = figuresOf(store({ reward: 0.30001, judge: 0.25 }), RUN);
  assert.deepEqual([same?.before, same?.after, same?.change], ["0.3", "0.3", null]);
});

test("only the optimised reward is coloured, and only beyond two standard errors", () => {
  // Spread 0.25 over 50 samples on each side: a standard error of 0.05.
  const tones = (reward: number) => figuresOf(store({ reward, judge: 0.05 }), RUN).map(({ tone }) => tone);
  assert.deepEqual(tones(0.41), ["good", undefined, undefined]);
  assert.deepEqual(tones(0.39), [undefined, undefined, undefined]);
  assert.deepEqual(tones(0.19), ["bad", undefined, undefined]);
});

test("before a second evaluation there is no after", () => {
  const metrics = new MetricStore(() => Promise.reject(new Error("nothing to read")));
  metrics.apply(metricsItem(1, 0, { "eval/reward": 0.3 }));
  const [reward] = figuresOf(metrics, RUN);
  assert.deepEqual([reward?.before, reward?.after, reward?.change], ["0.3", null, null]);
});

test("missing scores count only while they are missing in the newest batch", () => {
  const metrics = store();
  assert.equal(figuresOf(metrics, RUN)[2]?.numMissing, 2);
  metrics.apply(metricsItem(4, 11, { "reward/mean": 0.6 }));
  assert.equal(figuresOf(metrics, RUN)[2]?.numMissing, 0);
});
