import assert from "node:assert/strict";
import { test } from "node:test";
import { SequenceGate } from "./sequence_gate.ts";

test("an item is admitted once, and nothing that the snapshot covered", () => {
  const gate = new SequenceGate();
  gate.cover(10);
  assert.deepEqual(
    [9, 10, 11, 11, 13, 12].map((seq) => gate.admit(seq)),
    [false, false, true, false, true, false],
  );
  assert.equal(gate.last, 13);
});
