import assert from "node:assert/strict";
import { test } from "node:test";
import { bucketAt, stacked, withHoles } from "./stacks.ts";

test("each top is the sum of what lies below it", () => {
  assert.deepEqual(
    stacked([
      [1, 2, null],
      [3, 0, 1],
      [null, 1, 1],
    ]),
    [
      [1, 2, 0],
      [4, 2, 1],
      [4, 3, 2],
    ],
  );
  assert.deepEqual(stacked([]), []);
});

test("where minutes are missing the line has a hole", () => {
  assert.deepEqual(withHoles({ at: [0, 60, 300], columns: [[1, 2, 3]] }, 60), {
    at: [0, 60, 120, 300],
    columns: [[1, 2, null, 3]],
  });
  assert.deepEqual(withHoles({ at: [], columns: [[]] }, 60), { at: [], columns: [[]] });
});

test("a time belongs to the last bucket that has begun", () => {
  assert.equal(bucketAt([10, 20, 30], 5), null);
  assert.equal(bucketAt([10, 20, 30], 20), 1);
  assert.equal(bucketAt([10, 20, 30], 99), 2);
});
