import assert from "node:assert/strict";
import { test } from "node:test";
import type { GpuMinutes } from "../../api/schema.ts";
import { clockUnderLoad, curve, slowDowns } from "./minutes.ts";

const flat = (...values: readonly (number | null)[]) => ({ low: values, mean: values, high: values });

const minutes = (fields: Partial<GpuMinutes> = {}): GpuMinutes => ({
  kept_hours: 12,
  at: [0, 60, 120],
  num_readings: [20, 20, 10],
  values: { utilisation: flat(0.9, 0.1, 0.9), sm_clock: flat(1500, 300, 1700) },
  throttled: { "power cap": [0.5, 0, 0], heat: [0, 0, 1] },
  ...fields,
});

test("a quantity is drawn in the unit of its axis, and not at all where the card never told it", () => {
  assert.deepEqual(curve(minutes(), "utilisation", 100)?.columns[0], [90, 10, 90]);
  assert.equal(curve(minutes(), "temperature"), null);
});

test("slow-downs count readings, not minutes", () => {
  assert.deepEqual(slowDowns(minutes()), [
    { reason: "power cap", share: 0.2 },
    { reason: "heat", share: 0.2 },
  ]);
  assert.deepEqual(slowDowns(minutes({ num_readings: [], at: [], throttled: { heat: [] } })), [
    { reason: "heat", share: 0 },
  ]);
});

test("the clock under load leaves minutes out in which the GPU idled", () => {
  assert.equal(clockUnderLoad(minutes(), 2000), 0.8);
  assert.equal(clockUnderLoad(minutes(), null), null);
  assert.equal(
    clockUnderLoad(minutes({ values: { utilisation: flat(0, 0, 0), sm_clock: flat(1, 1, 1) } }), 2000),
    null,
  );
});
