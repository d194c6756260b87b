import assert from "node:assert/strict";
import { test } from "node:test";
import type { LineageRun } from "../../api/schema.ts";
import { lineageLayout, lineageWords } from "./lineage_layout.ts";

function lineageRun(id: string, fields: Partial<LineageRun> = {}): LineageRun {
  return {
    id,
    name: id,
    state: "completed",
    parent: null,
    generation: 0,
    forked_batch: null,
    num_batches: 20,
    num_batches_done: 20,
    reward: null,
    evaluated_batch: null,
    checkpoints: [],
    ...fields,
  };
}

const parent = lineageRun("parent", { checkpoints: [10, 20] });
const fork = lineageRun("fork", { parent: "parent", forked_batch: 10, num_batches: 40, num_batches_done: 15 });

test("a fork begins below the checkpoint that it was forked from, on one axis", () => {
  const { rows } = lineageLayout({ runs: [parent, fork], is_whole: true });
  const [above, below] = rows;
  assert.ok(above && below);
  assert.equal(below.begin, above.dots[0]?.x);
  assert.deepEqual(
    above.dots.map((dot) => dot.isForked),
    [true, false],
  );
  assert.equal(below.parentY, above.y);
  assert.ok(above.end < below.end && below.done < above.end);
});

test("the axis ends with the longest run, and its labels stay apart", () => {
  const batches = (num_batches: number) =>
    lineageLayout({ runs: [lineageRun("a", { num_batches })], is_whole: true }).ticks.map((tick) => tick.batch);
  assert.deepEqual(batches(40), [0, 10, 20, 30, 40]);
  assert.deepEqual(batches(17), [0, 5, 10, 17]);
  assert.deepEqual(batches(1), [0, 1]);
});

test("a run that has not begun takes no room left of its beginning", () => {
  const waiting = { ...fork, num_batches_done: 0 };
  const [, row] = lineageLayout({ runs: [parent, waiting], is_whole: true }).rows;
  assert.equal(row?.done, row?.begin);
});

test("a row says in words what the graph shows", () => {
  assert.equal(lineageWords(fork, "parent"), "batch 15 of 40 · forked at 10");
  assert.equal(lineageWords({ ...parent, parent: "x" }, "x"), "batch 20 of 20 · settings copied · 2 checkpoints");
});
