import assert from "node:assert/strict";
import { test } from "node:test";
import { MetricStore } from "../../live/metric_store.ts";
import { metricsItem, spec } from "../../testing/builders.ts";
import { figuresOf } from "./headline_figures.ts";

const SPEC = spec([{}, { name: "shape_judge", watched: true }, { name: "ocr", watched: true }]);

function store(): MetricStore {
  const metrics = new MetricStore(() => Promise.reject(new Error("nothing to read")));
  metrics.apply(metricsItem(1, 0, { "eval/reward": 0.3, "eval/part/shape_judge": 0.25 }));
  metrics.apply(metricsItem(2, 5, { "reward/mean": 0.5, "reward/missing/ocr": 2 }));
  metrics.apply(metricsItem(3, 10, { "eval/reward": 0.7, "eval/part/shape_judge": 0.5 }));
  return metrics;
}

test("the held-out reward stands first, from the first evaluation to the newest", () => {
  const [reward] = figuresOf(store(), SPEC);
  assert.deepEqual(
    [reward?.label, reward?.before, reward?.after, reward?.asShare],
    ["Held-out reward", 0.3, 0.7, false],
  );
});

test("a verdict is shown as the share that is right, any other watched reward as it is", () => {
  const [, verdict, other] = figuresOf(store(), SPEC);
  assert.deepEqual([verdict?.label, verdict?.asShare, verdict?.after], ["Judged right", true, 0.5]);
  assert.deepEqual([other?.label, other?.asShare, other?.before], ["OCR", false, undefined]);
});

test("missing scores count only while they are missing in the newest batch", () => {
  const metrics = store();
  assert.equal(figuresOf(metrics, SPEC)[2]?.numMissing, 2);
  metrics.apply(metricsItem(4, 11, { "reward/mean": 0.6 }));
  assert.equal(figuresOf(metrics, SPEC)[2]?.numMissing, 0);
});
