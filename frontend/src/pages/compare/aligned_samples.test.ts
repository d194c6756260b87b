import assert from "node:assert/strict";
import { test } from "node:test";
import { sample } from "../../testing/builders.ts";
import { commonBatches, samplesOf } from "./aligned_samples.tsx";

test("samples are aligned at batches that all runs have, else at any", () => {
  assert.deepEqual(commonBatches([{ batches: [0, 5, 10] }, { batches: [0, 10, 20] }]), [0, 10]);
  assert.deepEqual(commonBatches([{ batches: [5] }, { batches: [10] }]), [5, 10]);
});

test("samples stand under their own run while others are hidden or added, and wait for those not read yet", () => {
  const [first, second] = [[sample({ prompt: "of a" })], [sample({ prompt: "of b" })]];
  const drawn = {
    batch: 6,
    of: new Map([
      ["a", first],
      ["b", second],
    ]),
  };
  assert.deepEqual(samplesOf(["b"], 6, drawn), [second]);
  assert.equal(samplesOf(["b", "c"], 6, drawn), null);
  assert.equal(samplesOf(["a", "b"], 4, drawn), null);
});
