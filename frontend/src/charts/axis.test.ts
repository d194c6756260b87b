import assert from "node:assert/strict";
import { test } from "node:test";
import { curveOf } from "../live/growing_curve.ts";
import { series } from "../testing/builders.ts";
import { chartColumns, join, logTexts, tickTexts, xValues } from "./axis.ts";

const curve = (value: readonly number[], width = 0) => curveOf(series(value, width));

test("curves of different x share one axis, what one lacks is a gap", () => {
  const joined = join([
    { x: [1, 3], y: [10, 30] },
    { x: [2, 3], y: [200, 300] },
  ]);
  assert.deepEqual(joined.x, [1, 2, 3]);
  assert.deepEqual(joined.columns, [
    [10, null, 30],
    [null, 200, 300],
  ]);
});

test("of several points at one x the last counts", () => {
  assert.deepEqual(join([{ x: [1, 1, 2], y: [5, 6, 7] }]), { x: [1, 2], columns: [[6, 7]] });
});

test("the axis chooses batch, step or seconds since the start", () => {
  assert.deepEqual(xValues(curve([1, 2]), "batch", 100), [1, 2]);
  assert.deepEqual(xValues(curve([1, 2]), "step", 100), [4, 8]);
  assert.deepEqual(xValues(curve([1, 2]), "wall", 100), [0, 1]);
});

test("a spread becomes a band around the curve, with gaps where either is missing", () => {
  const { low, high } = chartColumns([curve([1, 2])], curve([0.5, 0.25]), "batch", 0, 0);
  assert.deepEqual(low, [0.5, 1.75]);
  assert.deepEqual(high, [1.5, 2.25]);
  const { low: partly } = chartColumns([curve([1, 2, 3])], curve([0.5, 0.25]), "batch", 0, 0);
  assert.deepEqual(partly, [0.5, 1.75, null]);
});

test("a band lies around the smoothed curve", () => {
  const { lines, low } = chartColumns([curve([0, 1])], curve([1, 1]), "batch", 0, 0.5);
  const [, second = 0] = lines[0] ?? [];
  assert.ok(second !== null && second > 0.5 && second < 1);
  assert.equal(low?.[1], (second ?? 0) - 1);
});

test("a downsampled curve shows its envelope, an exact one none", () => {
  const { low, high } = chartColumns([curve([1, 2], 0.5)], undefined, "batch", 0, 0);
  assert.deepEqual(
    [low, high],
    [
      [0.5, 1.5],
      [1.5, 2.5],
    ],
  );
  assert.equal(chartColumns([curve([1, 2])], undefined, "batch", 0, 0).low, null);
});

test("several curves have no envelope: it would be one's alone", () => {
  assert.equal(chartColumns([curve([1, 2], 0.5), curve([3, 4], 0.5)], undefined, "batch", 0, 0).low, null);
});

test("smoothed lines come with the raw ones", () => {
  const { lines, raw } = chartColumns([curve([0, 10])], undefined, "batch", 0, 0.9);
  assert.deepEqual(raw, [[0, 10]]);
  assert.notDeepEqual(lines, raw);
});

test("a panel without curves is empty", () => {
  assert.deepEqual(chartColumns([], undefined, "batch", 0, 0), { x: [], lines: [], raw: [], low: null, high: null });
});

test("ticks tell neighbours apart, however small, and zero is zero", () => {
  assert.deepEqual(tickTexts([0.5, 0.75, 1], 0.25), ["0.50", "0.75", "1.00"]);
  assert.deepEqual(tickTexts([-2e-8, 1e-24, 2e-8], 2e-8), ["-2e-8", "0", "2e-8"]);
  assert.deepEqual(tickTexts([0.893448, 0.89345], 2e-6), ["0.893448", "0.893450"]);
  assert.deepEqual(tickTexts([2.9998e-4, 3e-4, 3.0002e-4], 2e-8), ["2.9998e-4", "3.0000e-4", "3.0002e-4"]);
  assert.deepEqual(tickTexts([0, 1e-5, 2e-5], 1e-5), ["0", "1e-5", "2e-5"]);
  assert.deepEqual(tickTexts([0.00149, 0.0015], 1e-5), ["0.00149", "0.00150"]);
  assert.deepEqual(tickTexts([1000, 2000], 1000), ["1,000", "2,000"]);
});

test("logarithmic ticks are labelled by their first digits, over many powers by powers alone", () => {
  assert.deepEqual(logTexts([0.5, 0.6, 1, 2, 3, 5, 10]), ["0.5", "", "1", "2", "", "5", "10"]);
  assert.deepEqual(logTexts([1e-6, 2e-6, 1e-3, 1, 1000, 1e6]), ["1e-6", "", "0.001", "1", "1000", "1e6"]);
});
