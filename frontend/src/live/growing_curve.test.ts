import assert from "node:assert/strict";
import { test } from "node:test";
import { metricsItem, resumedItem, series } from "../testing/builders.ts";
import { curveOf, GrowingCurve, spliced } from "./growing_curve.ts";

const KEY = "policy/kl";

/** A curve read up to item 4, that then got these values, one a batch from `first` on. */
function grown(values: readonly number[], first = 2): GrowingCurve {
  const growing = new GrowingCurve(series([0.5]), 500, 4);
  values.forEach((value, index) => {
    growing.apply(metricsItem(5 + index, first + index, { [KEY]: value }), value);
  });
  return growing;
}

test("every column grows with the point, its envelope being the value itself", () => {
  assert.deepEqual(grown([0.7]).curve, {
    batch: [1, 2],
    optimizer_step: [4, 8],
    at: [100, 5],
    value: [0.5, 0.7],
    min: [0.5, 0.7],
    max: [0.5, 0.7],
  });
});

test("what the answer covered, and a repeated item, are dropped", () => {
  const growing = grown([0.7]);
  growing.apply(metricsItem(4, 9, { [KEY]: 1 }), 1);
  growing.apply(metricsItem(5, 9, { [KEY]: 1 }), 1);
  assert.deepEqual(growing.curve.value, [0.5, 0.7]);
});

test("a value reported again for the same batch and step replaces the first", () => {
  const growing = grown([0.7]);
  growing.apply(metricsItem(6, 2, { [KEY]: 0.9 }), 0.9);
  assert.deepEqual(growing.curve.value, [0.5, 0.9]);
});

test("a resumed attempt takes back the points after its batch, and begins anew at 0", () => {
  const growing = grown([2, 3, 4]);
  growing.apply(resumedItem(9, 2), undefined);
  assert.deepEqual(growing.curve.batch, [1, 2]);
  assert.deepEqual(growing.curve.max, [0.5, 2]);
  growing.apply(resumedItem(10, 5), undefined);
  assert.equal(growing.curve.batch.length, 2);
  growing.apply(resumedItem(11, 0), undefined);
  assert.deepEqual(growing.curve.value, []);
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

test("finer points replace exactly the stretch they span", () => {
  const coarse = curveOf({ ...series([1, 2, 3, 4]), optimizer_step: [10, 20, 30, 40] });
  const finer = curveOf({ ...series([7, 8, 9]), optimizer_step: [15, 20, 25] });
  const both = spliced(coarse, finer);
  assert.deepEqual(both.optimizer_step, [10, 15, 20, 25, 30, 40]);
  assert.deepEqual(both.value, [1, 7, 8, 9, 3, 4]);
  assert.deepEqual(spliced(coarse, curveOf(series([]))), coarse);
  const beyond = curveOf({ ...series([5]), optimizer_step: [50] });
  assert.deepEqual(spliced(coarse, beyond).optimizer_step, [10, 20, 30, 40, 50]);
});
