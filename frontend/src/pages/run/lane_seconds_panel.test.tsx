import assert from "node:assert/strict";
import { test } from "node:test";
import type { WorkSeconds } from "../../api/schema.ts";
import { textOf } from "../../testing/markup.ts";
import { LaneSecondsTables, spreadInWords } from "./lane_seconds_panel.tsx";

/** A rank of three that takes so many seconds a micro-batch. */
const rank = (lane: string, seconds: number, fields: Partial<WorkSeconds> = {}): WorkSeconds => ({
  lane,
  work: "accumulate",
  seconds,
  num_units: 4,
  relative_error: 0.02,
  times_peers: seconds,
  num_peers: 3,
  is_slow: seconds > 1.25,
  ...fields,
});
const tables = (...seconds: WorkSeconds[]) => textOf(<LaneSecondsTables found={{ num_batches: 4, seconds }} />);

test("each rank has its seconds of a micro-batch, and the slow one is marked with how many times its peers'", () => {
  const text = tables(rank("trainer-10", 1), rank("trainer-2", 1.96), rank("trainer-1", 1.04));
  assert.match(text, /trainer-2\W+1\.96 s\W+2\.0 %\W+slower than its peers\W+1\.96 × the median of 3/);
  assert.equal(text.match(/slower than its peers/g)?.length, 1);
  assert.ok(text.lastIndexOf("trainer-2") < text.indexOf("trainer-10"), "in the order of their numbers");
});

test("ranks in step have one row, and lanes without enough peers no verdict", () => {
  const alone = { times_peers: null, num_peers: 0, is_slow: false };
  assert.match(tables(rank("gang", 2, alone)), /all ranks, in step\W+2(\.00)? s/);
  assert.doesNotMatch(tables(rank("trainer-0", 9, alone)), /slower|median/);
});

test("a folded list says by name who is slow, or how far apart lanes are", () => {
  assert.equal(spreadInWords([rank("trainer-0", 1), rank("trainer-1", 1.1)]), "2 lanes, 1 to 1.1 s");
  assert.equal(
    spreadInWords([rank("trainer-0", 1), rank("trainer-1", 2)]),
    "trainer-1 takes 2 × the time of its peers",
  );
});
