import assert from "node:assert/strict";
import { test } from "node:test";
import { lane } from "../testing/builders.ts";
import { MAX_SINGLE_LANES, rowsOf } from "./fleet_rows.ts";
import { LaneTracks } from "./lane_tracks.ts";

/** `counts` lanes of each role. */
function tracksOf(counts: Readonly<Record<string, number>>) {
  const lanes = new LaneTracks();
  for (const [role, count] of Object.entries(counts))
    for (let number = 0; number < count; number += 1) lanes.place(lane(`${role}-${number}`));
  return lanes.tracks;
}

const NONE: ReadonlySet<string> = new Set();

test("lanes that fit are rows of their own", () => {
  const { fleet, tracks } = rowsOf(tracksOf({ trainer: 8, rollout: MAX_SINGLE_LANES - 8 }), NONE);
  assert.deepEqual([fleet.length, tracks.length], [0, MAX_SINGLE_LANES]);
});

test("of 64 lanes each role is one row, in the order of the lanes", () => {
  const { fleet, fleetAfter, tracks } = rowsOf(tracksOf({ rollout: 48, trainer: 12, reward: 4 }), NONE);
  assert.deepEqual(
    fleet.map(({ role, numLanes }) => [role, numLanes]),
    [
      ["trainer", 12],
      ["rollout", 48],
      ["reward", 4],
    ],
  );
  assert.deepEqual([fleetAfter, tracks], [[0, 0, 0], []]);
});

test("an opened role has its lanes beneath it", () => {
  const { fleet, fleetAfter, tracks } = rowsOf(tracksOf({ rollout: 48, trainer: 12, reward: 4 }), new Set(["rollout"]));
  assert.deepEqual(
    fleet.map(({ isOpen }) => isOpen),
    [false, true, false],
  );
  assert.deepEqual(fleetAfter, [0, 0, 48]);
  assert.equal(tracks.length, 48);
});

test("a role of one lane is that lane", () => {
  const { fleet, fleetAfter, tracks } = rowsOf(tracksOf({ rollout: 20, trainer: 1 }), NONE);
  assert.deepEqual([fleet.map(({ role }) => role), fleetAfter], [["rollout"], [1]]);
  assert.deepEqual(
    tracks.map((track) => track.lane),
    ["trainer-0"],
  );
});
