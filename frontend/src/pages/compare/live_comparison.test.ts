import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "../../testing/builders.ts";
import type { ComparedRun } from "./compared_run.ts";
import { Changes, READ_AGAIN_MILLISECONDS, updated } from "./live_comparison.ts";

const compared = (id: string, num_batches_done: number, colour = "--series-1"): ComparedRun => ({
  run: run({ id, num_batches_done }),
  curves: new Map(),
  keys: [],
  colour,
});

test("a run that was read again takes its own place and keeps its colour", () => {
  const known = [compared("a", 1, "--series-1"), compared("b", 1, "--series-2")];
  const [first, second] = updated(known, [compared("b", 2)]);
  assert.equal(first, known[0]);
  assert.deepEqual(second, compared("b", 2, "--series-2"));
});

test("a run that cannot be read again stays as it was, and one that could not be read before comes", () => {
  const known = [compared("a", 1), { id: "b", message: "not found" }];
  const newer = [{ id: "a", message: "no answer" }, compared("b", 1)];
  assert.deepEqual(updated(known, newer), [compared("a", 1), compared("b", 1)]);
});

test("changes of a few seconds are passed on together, each run once", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const passedOn: (readonly string[])[] = [];
  const changes = new Changes((ids) => passedOn.push(ids));
  for (const id of ["a", "b", "a"]) changes.add(id);
  context.mock.timers.tick(READ_AGAIN_MILLISECONDS);
  changes.add("b");
  context.mock.timers.tick(READ_AGAIN_MILLISECONDS - 1);
  assert.deepEqual(passedOn, [["a", "b"]]);
  context.mock.timers.tick(1);
  assert.deepEqual(passedOn, [["a", "b"], ["b"]]);
  changes.add("a");
  changes.stop();
  context.mock.timers.tick(READ_AGAIN_MILLISECONDS);
  assert.equal(passedOn.length, 2);
});
