import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "../../testing/builders.ts";
import type { ComparedRun } from "./compared_run.ts";
import { difference, isWithinNoise, type Summary, seedGroups, summaryOf } from "./seed_groups.ts";

function seeded(name: string, seed: number, num_batches = 10): ComparedRun {
  const { spec, ...rest } = run({ name });
  return { run: { ...rest, spec: { ...spec, seed, num_batches } }, curves: new Map(), keys: [], colour: `--${name}` };
}

const summary = (...values: number[]) => summaryOf(values) as Summary;

test("runs whose specs differ only in the seed are one group, in the order of the first", () => {
  const groups = seedGroups([seeded("a", 0), seeded("longer", 0, 20), seeded("b", 1), seeded("c", 2)]);
  assert.deepEqual(
    groups.map((group) => [group.name, group.colour, group.runs.map(({ run: { name } }) => name)]),
    [
      ["a + 2 seeds", "--a", ["a", "b", "c"]],
      ["longer", "--longer", ["longer"]],
    ],
  );
});

test("a summary leaves out runs without a value, and one seed has no spread", () => {
  assert.deepEqual(summaryOf([null, 2]), { values: [2], mean: 2, spread: null });
  assert.equal(summaryOf([null, Number.NaN]), null);
  assert.equal(summary(1, 3).spread, Math.SQRT2);
});

test("the noise of a difference is the half-width of Student's 95 % interval with pooled variance", () => {
  // R: t.test(c(1,2,3), c(4,5,6), var.equal=TRUE) answers −3 with the interval −5.26696 to −0.73304.
  const found = difference(summary(1, 2, 3), summary(4, 5, 6));
  assert.equal(found.value, -3);
  assert.ok(Math.abs((found.noise ?? 0) - 2.26696) < 1e-3);
  assert.equal(isWithinNoise(found), false);
});

test("the seeds of one side tell the noise of a single run on the other", () => {
  const found = difference(summary(1.5), summary(1, 2));
  assert.equal(found.value, 0);
  assert.ok(isWithinNoise(found));
});

test("with one seed on each side noise is unknown, and nothing is within it", () => {
  const found = difference(summary(1), summary(1));
  assert.equal(found.noise, null);
  assert.equal(isWithinNoise(found), false);
});
