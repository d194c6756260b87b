import assert from "node:assert/strict";
import { test } from "node:test";
import type { MirroredRun } from "../api/schema.ts";
import { healthOf, nextWords, progressWords } from "./mirror_words.ts";

const NOW = Date.parse("2026-11-23T12:00:00Z") / 1000;
const at = (seconds: number) => new Date((NOW + seconds) * 1000).toISOString();

function row(fields: Partial<MirroredRun>): MirroredRun {
  return {
    ...{ mirror: "m", name: "wb", kind: "wandb", is_active: true, state: "following", url: "", folder: "" },
    ...{ batch: 7, num_batches_behind: 0, num_pictures_left_out: 0, num_failures: 0, error: "" },
    ...{ next_at: at(40), begun_at: null, accepted_at: at(-20) },
    ...fields,
  };
}

test("a mirror that keeps up says how far it is and when it was written", () => {
  assert.deepEqual(
    [healthOf(row({})), progressWords(row({})), nextWords(row({}), NOW)],
    ["waiting", "up to batch 7", "written 20 s ago"],
  );
  assert.equal(progressWords(row({ num_batches_behind: 3 })), "up to batch 7, 3 behind");
  assert.equal(nextWords(row({ begun_at: at(-2), next_at: at(240) }), NOW), "being written");
  const fresh = row({ accepted_at: null, batch: 0 });
  assert.deepEqual([progressWords(fresh), nextWords(fresh, NOW)], ["nothing yet", "first written in 40 s"]);
});

test("failures are counted, with when they are tried again, until they are given up", () => {
  const failing = row({ num_failures: 2, error: "401" });
  assert.deepEqual([healthOf(failing), nextWords(failing, NOW)], ["failing", "2 tries failed, tried again in 40 s"]);
  const overdue = row({ num_failures: 1, error: "401", next_at: at(-5) });
  assert.equal(nextWords(overdue, NOW), "1 try failed, tried again now");
  const lost = row({ state: "given_up", num_failures: 10, error: "401", next_at: null });
  assert.deepEqual([healthOf(lost), nextWords(lost, NOW)], ["failing", "given up after 10 tries"]);
});

test("what has ended has no next, and an empty run has nothing to show", () => {
  const done = row({ state: "done", next_at: null });
  assert.deepEqual([healthOf(done), progressWords(done), nextWords(done, NOW)], ["good", "all of it", ""]);
  assert.equal(progressWords(row({ state: "done", accepted_at: null })), "the run reported nothing");
});

test("a mirror that was switched off is neither failing nor tried again", () => {
  const off = row({ is_active: false, num_failures: 1, error: "401" });
  assert.deepEqual([healthOf(off), nextWords(off, NOW)], ["off", "the mirror is off"]);
});
