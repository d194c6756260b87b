import assert from "node:assert/strict";
import { test } from "node:test";
import type { SavedCheckpoint } from "../../api/schema.ts";
import { adapter } from "../../testing/builders.ts";
import { bestVersion, forkAddress, savedVersions } from "./saved_versions.ts";

function checkpoint(batch: number, fields: Partial<SavedCheckpoint> = {}): SavedCheckpoint {
  return {
    id: batch,
    attempt: 1,
    batch,
    policy_version: batch,
    optimizer_step: batch,
    uri: `file:///c/${batch}`,
    num_bytes: 9,
    created_at: batch,
    is_kept: true,
    training_reward: null,
    held_out_reward: null,
    ...fields,
  };
}

test("a checkpoint and the weights of its version are one row, the newest first", () => {
  const weights = { ...adapter(), attempt: 1, batch: 2, policy_version: 2, created_at: 7 };
  const rows = savedVersions([checkpoint(2), checkpoint(1)], [weights]);
  assert.deepEqual(
    rows.map((row) => [row.batch, row.savedAt, row.checkpoint?.id, row.adapter === null]),
    [
      [2, 7, 2, false],
      [1, 1, 1, true],
    ],
  );
});

test("what two attempts saved of one version are two rows", () => {
  const rows = savedVersions([checkpoint(2), checkpoint(2, { id: 8, attempt: 2 })], []);
  assert.deepEqual(
    rows.map((row) => [row.attempt, row.checkpoint?.id]),
    [
      [2, 8],
      [1, 2],
    ],
  );
});

test("the best version is the one with the highest held-out reward, of two or more", () => {
  const rows = savedVersions([checkpoint(1), checkpoint(2), checkpoint(3)], []);
  const rewards: Record<number, number> = { 1: 0.4, 2: 0.6 };
  assert.equal(bestVersion(rows, ({ batch }) => rewards[batch])?.batch, 2);
  assert.equal(
    bestVersion(rows, ({ batch }) => (batch === 1 ? 0.4 : undefined)),
    null,
  );
});

test("a fork opens the form with the run and the checkpoint", () => {
  assert.equal(forkAddress("r", checkpoint(3)), "/runs/new?from=r&checkpoint=3");
});
