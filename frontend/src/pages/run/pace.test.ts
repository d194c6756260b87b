import assert from "node:assert/strict";
import { test } from "node:test";
import { MetricStore } from "../../live/metric_store.ts";
import { metricsItem } from "../../testing/builders.ts";
import { expectedEnd, paceOf } from "./pace.ts";

/** Batches of 60 samples that took so many seconds each; each item comes at its number. */
function trained(...seconds: readonly number[]): MetricStore {
  const metrics = new MetricStore(() => Promise.reject(new Error("nothing to read")));
  seconds.forEach((one, index) => {
    const values = { "speed/batch_seconds": one, "speed/images_per_second": 60 / one };
    metrics.apply(metricsItem(index + 1, index + 1, values));
  });
  return metrics;
}

test("before the first batch there is no pace", () => {
  assert.equal(paceOf(trained()), null);
});

test("throughput is the samples of the last eight batches over their time, not the mean of eight rates", () => {
  const pace = paceOf(trained(1000, 10, 10, 10, 10, 10, 10, 10, 50));
  assert.equal(pace?.numBatches, 8);
  assert.equal(pace?.batchSeconds, 15);
  assert.equal(pace?.samplesPerSecond, (8 * 60) / 120);
});

test("the expected end is counted from the newest batch, with a range of two standard errors", () => {
  const pace = paceOf(trained(9, 11));
  assert.ok(pace);
  const end = expectedEnd(pace, 30);
  assert.equal(end.at, pace.at + 300);
  assert.ok(Math.abs((end.rangeSeconds ?? 0) - 60) < 1e-9, "the mean's standard error is 1 s");
});

test("one batch tells when, but not how surely", () => {
  const pace = paceOf(trained(12));
  assert.ok(pace);
  assert.equal(expectedEnd(pace, 2).rangeSeconds, null);
});
