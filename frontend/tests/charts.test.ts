import assert from "node:assert/strict";
import { test } from "node:test";
import { drawn, join, tickTexts } from "../src/charts/axis.ts";
import {
  curveTitle,
  leftOver,
  METRIC_PANELS,
  matchingKeys,
  measuredPanels,
  overviewPanels,
} from "../src/charts/panels.ts";

const curve = (value: number[], width = 0) => ({
  batch: value.map((_, index) => index + 1),
  step: value.map((_, index) => 4 * (index + 1)),
  at: value.map((_, index) => 100 + index),
  value,
  min: value.map((one) => one - width),
  max: value.map((one) => one + width),
});

test("curves of different x share one axis, what one lacks is a gap", () => {
  assert.deepEqual(
    join([
      { x: [1, 3], y: [10, 30] },
      { x: [2, 3], y: [200, 300] },
    ]),
    {
      x: [1, 2, 3],
      columns: [
        [10, null, 30],
        [null, 200, 300],
      ],
    },
  );
});

test("the axis chooses batch, step or seconds since the start", () => {
  assert.deepEqual(drawn([curve([1, 2])], undefined, "batch", 100, 0).x, [1, 2]);
  assert.deepEqual(drawn([curve([1, 2])], undefined, "step", 100, 0).x, [4, 8]);
  assert.deepEqual(drawn([curve([1, 2])], undefined, "wall", 100, 0).x, [0, 1]);
});

test("a spread becomes a band around the curve", () => {
  const { low, high } = drawn([curve([1, 2])], curve([0.5, 0.25]), "batch", 0, 0);
  assert.deepEqual(low, [0.5, 1.75]);
  assert.deepEqual(high, [1.5, 2.25]);
});

test("a downsampled curve shows its envelope, an exact one none", () => {
  assert.deepEqual(drawn([curve([1, 2], 0.5)], undefined, "batch", 0, 0).low, [0.5, 1.5]);
  assert.equal(drawn([curve([1, 2])], undefined, "batch", 0, 0).low, null);
});

test("panels show what is known and nothing reported is hidden", () => {
  const known = ["reward/mean", "reward/std", "eval/part/shape_judge", "new/thing"];
  const [, evaluation] = overviewPanels(["shape_judge"]);
  assert.deepEqual(evaluation && matchingKeys(evaluation, known), ["eval/part/shape_judge"]);
  assert.deepEqual(leftOver(known), ["eval/part/shape_judge", "new/thing"]);
  assert.equal(new Set(METRIC_PANELS.map((panel) => panel.id)).size, METRIC_PANELS.length);
});

test("a lone curve has a readable title", () => {
  assert.equal(curveTitle("eval/part/shape_judge"), "Held-out: shape judge");
  assert.equal(curveTitle("policy/kl"), "KL to the reference");
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

test("what an algorithm does not measure has no panel, once it is known", () => {
  const ids = (known: string[]) => measuredPanels(METRIC_PANELS, new Set(known)).map((panel) => panel.id);
  assert.ok(ids([]).includes("loss"));
  assert.ok(!ids([]).includes("clip"));
  assert.ok(ids(["reward/mean", "policy/clip_fraction"]).includes("clip"));
  assert.deepEqual(ids(["reward/mean", "policy/loss"]), ["reward", "loss"]);
});
