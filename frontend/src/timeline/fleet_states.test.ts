import assert from "node:assert/strict";
import { mock, test } from "node:test";
import type { LaneStates } from "../api/schema.ts";
import { areasOf } from "./draw_fleet.ts";
import { FleetStates, lanesAt, type StatesAsked } from "./fleet_states.ts";

const STATES: LaneStates = {
  start: 100,
  bucket_seconds: 10,
  num_buckets: 2,
  roles: [
    { role: "rollout", num_lanes: 4, states: { idle: [1, 3], generate: [2, 1], decode: [1, 0] } },
    { role: "trainer", num_lanes: 2, states: { train: [2, 2] } },
  ],
  stream_seq: 1,
};
const EXTENT = { from: 0, to: 1000 };
const view = (from: number, to: number, follow = false) => ({ from, to, follow });

/** States that answer at once, and what they were asked for. */
function reading() {
  mock.timers.enable({ apis: ["setTimeout"] });
  const asked: StatesAsked[] = [];
  const states = new FleetStates(
    async (window) => {
      asked.push(window);
      return { ...STATES, start: window.from, bucket_seconds: (window.to - window.from) / window.buckets };
    },
    () => undefined,
  );
  const settle = async (milliseconds: number) => {
    mock.timers.tick(milliseconds);
    for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
  };
  return { asked, states, settle, done: () => mock.timers.reset() };
}

test("areas lie one on the other to the whole of a role's lanes, idleness on top", () => {
  const areas = areasOf(STATES, "rollout");
  assert.deepEqual(
    areas.map(({ kind }) => kind),
    ["generate", "decode", "idle"],
  );
  assert.deepEqual(areas[0]?.low, [0, 0]);
  assert.deepEqual(areas[1]?.low, areas[0]?.high);
  assert.deepEqual(areas.at(-1)?.high, [1, 1]);
  assert.deepEqual(areasOf(STATES, "reward"), []);
});

test("an instant has the states of its bucket, the most lanes first", () => {
  assert.deepEqual(lanesAt(STATES, "rollout", 105), [
    ["generate", 2],
    ["idle", 1],
    ["decode", 1],
  ]);
  assert.deepEqual(lanesAt(STATES, "rollout", 119), [
    ["idle", 3],
    ["generate", 1],
  ]);
  assert.deepEqual(lanesAt(STATES, "rollout", 130), []);
});

test("a window is read once it rests, with room to pan in it", async () => {
  const { asked, states, settle, done } = reading();
  states.show(view(400, 500), EXTENT);
  states.show(view(410, 510), EXTENT);
  await settle(200);
  assert.deepEqual(asked, [{ from: 360, to: 560, buckets: 600 }]);
  assert.equal(states.states?.start, 360);
  states.show(view(370, 470), EXTENT);
  await settle(200);
  assert.equal(asked.length, 1);
  done();
});

test("a window that is zoomed into is read anew, as fine as it is narrow", async () => {
  const { asked, states, settle, done } = reading();
  states.show(view(0, 1000), EXTENT);
  await settle(200);
  states.show(view(400, 440), EXTENT);
  await settle(200);
  assert.deepEqual(asked[1], { from: 380, to: 460, buckets: 600 });
  done();
});

test("a window that was widened does not wait for the next read of the present", async () => {
  const { asked, states, settle, done } = reading();
  states.show(view(900, 1000, true), EXTENT);
  await settle(200);
  states.show(view(901, 1001, true), { from: 0, to: 1001 });
  states.show(view(0, 1001, true), { from: 0, to: 1001 });
  await settle(200);
  assert.equal(asked[1]?.from, 0);
  done();
});

test("a wide window that goes with the present is read once a bucket has passed", async () => {
  const { asked, states, settle, done } = reading();
  states.show(view(0, 12_000, true), { from: 0, to: 12_000 });
  await settle(200);
  states.show(view(1, 12_001, true), { from: 0, to: 12_001 });
  await settle(19_000);
  assert.equal(asked.length, 1);
  await settle(1000);
  assert.equal(asked.length, 2);
  done();
});

test("a window that goes with the present is read every few seconds, and no more when the page goes", async () => {
  const { asked, states, settle, done } = reading();
  states.show(view(900, 1000, true), EXTENT);
  await settle(200);
  for (let second = 1; second <= 6; second += 1) {
    states.show(view(900 + second, 1000 + second, true), { from: 0, to: 1000 + second });
    await settle(1000);
  }
  assert.equal(asked.length, 3, "at first, and twice in six seconds");
  states.stop();
  states.show(view(0, 10), EXTENT);
  await settle(10_000);
  assert.equal(asked.length, 3);
  done();
});
