import assert from "node:assert/strict";
import { test } from "node:test";
import type { StalenessColumn } from "../../api/schema.ts";
import { columnText, levelsOf, meanStaleness, most, perBatch, rewardOf, shareOf } from "./staleness_levels.ts";

const column = (first: number, last: number, counts: StalenessColumn["counts"]): StalenessColumn => ({
  first_batch: first,
  last_batch: last,
  num_batches: last - first + 1,
  counts,
});
const COLUMNS = [column(1, 4, { 0: 48, 1: 16 }), column(5, 8, { 0: 64 }), column(9, 9, { 0: 4, 1: 12 })];

test("there is a row for every staleness that the run allows or has reported", () => {
  assert.deepEqual(levelsOf([], 1), [0, 1]);
  assert.deepEqual(levelsOf(COLUMNS, 0), [0, 1]);
  assert.deepEqual(levelsOf([column(1, 1, { 3: 1 })], 1), [0, 1, 2, 3]);
});

test("columns of several batches and of one are coloured on one scale", () => {
  assert.deepEqual(
    COLUMNS.map((one) => perBatch(one, 1)),
    [4, 0, 12],
  );
  assert.equal(most(COLUMNS), 16);
});

test("the shares of all levels sum to one", () => {
  assert.equal(shareOf(COLUMNS, 1), 28 / 144);
  assert.equal(shareOf(COLUMNS, 0) + shareOf(COLUMNS, 1), 1);
});

test("a column says its batches, its reward and its levels", () => {
  assert.equal(
    columnText(column(5, 8, { 0: 48, 1: 16 }), 0.4),
    "Batches 5 to 8: reward 0.4, mean staleness 0.25; trajectories at staleness 0: 48, 1: 16",
  );
  assert.equal(columnText(column(9, 9, { 2: 4 }), null), "Batch 9: mean staleness 2; trajectories at staleness 2: 4");
  assert.equal(meanStaleness(column(1, 1, { 0: 1, 1: 3 })), 0.75);
});

test("a column's reward is the mean of its batches, or of the thinned point that stands for them", () => {
  const [batches, rewards] = [
    [4, 8, 12],
    [0.1, 0.3, 0.5],
  ];
  assert.equal(rewardOf(column(5, 8, {}), batches, rewards), 0.3);
  assert.equal(rewardOf(column(1, 8, {}), batches, rewards), 0.2);
  assert.equal(rewardOf(column(9, 10, {}), batches, rewards), 0.5);
  assert.equal(rewardOf(column(13, 13, {}), batches, rewards), null);
  assert.equal(rewardOf(column(3, 4, {}), batches, [null, 0.3, 0.5]), 0.3);
});
