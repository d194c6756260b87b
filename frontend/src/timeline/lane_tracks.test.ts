import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { lane, span } from "../testing/builders.ts";
import { LaneTracks, labelOf, roleOf } from "./lane_tracks.ts";

let lanes: LaneTracks;

beforeEach(() => {
  lanes = new LaneTracks();
});

const names = () => lanes.tracks.map((track) => track.lane);

test("late spans are put at their place", () => {
  for (const start of [5, 3, 9, 3.5]) lanes.add(span({ start }));
  assert.deepEqual(
    lanes.tracks[0]?.spans.map((one) => one.start),
    [3, 3.5, 5, 9],
  );
  assert.equal(lanes.numSpans, 4);
});

test("lanes stand in order of role, then of number", () => {
  for (const name of ["rollout-10", "driver", "reward-0", "rollout-2", "trainer-0", "unheard-of"]) {
    lanes.add(span({ lane: name }));
  }
  assert.deepEqual(names(), ["trainer-0", "rollout-2", "rollout-10", "reward-0", "driver", "unheard-of"]);
});

test("a lane keeps its name when its role changes, and says the role then", () => {
  lanes.place(lane("rollout-1", { role: "rollout" }));
  assert.deepEqual(lanes.tracks.map(labelOf), ["rollout-1"]);
  lanes.place(lane("rollout-1", { role: "trainer" }));
  assert.deepEqual(lanes.tracks.map(labelOf), ["rollout-1 (trainer)"]);
});

test("a lane's role is where it was placed, whatever its name says", () => {
  lanes.add(span({ lane: "rollout-0" }));
  lanes.add(span({ lane: "rollout-1" }));
  lanes.place(lane("rollout-1", { role: "trainer" }));
  assert.deepEqual(names(), ["rollout-1", "rollout-0"]);
  assert.deepEqual(lanes.tracks.map(roleOf), ["trainer", "rollout"]);
});

test("a lane that is placed anew keeps its spans", () => {
  lanes.add(span({ lane: "trainer-0" }));
  lanes.place(lane("trainer-0", { device: "gpu 0" }));
  lanes.place(lane("trainer-0", { device: "gpu 1" }));
  assert.deepEqual([lanes.tracks.length, lanes.numSpans, lanes.tracks[0]?.info?.device], [1, 1, "gpu 1"]);
});

test("the extent reaches from the first start to the last end over all lanes", () => {
  assert.equal(lanes.extent(), null);
  lanes.add(span({ lane: "a", start: 3, end: 4 }));
  lanes.add(span({ lane: "b", start: 1, end: 2 }));
  lanes.place(lane("trainer-0"));
  assert.deepEqual(lanes.extent(), { from: 1, to: 4 });
});

test("the legend knows the kinds that occurred, until everything is cleared", () => {
  lanes.add(span({ kind: "train" }));
  lanes.add(span({ kind: "idle", cause: "drain" }));
  assert.deepEqual([...lanes.kinds], ["train", "idle"]);
  lanes.clear();
  assert.deepEqual([lanes.kinds.size, lanes.tracks.length], [0, 0]);
});
