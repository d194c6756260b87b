import assert from "node:assert/strict";
import { test } from "node:test";
import type { Replay } from "../../api/schema.ts";
import { specDefaults } from "../../testing/committed.ts";
import { linked, replayTimelines } from "./replay_timeline.ts";
import {
  AS_IT_WAS,
  changedSettings,
  changedTime,
  changeOf,
  classRows,
  errorText,
  isBeyondError,
  leads,
  leadText,
  requestOf,
} from "./replay_words.ts";
import { LABELS } from "./setting_choices.tsx";

const schedule = (seconds: number, lane_seconds: Record<string, number>) => ({
  seconds,
  batch_seconds: [seconds / 2, seconds / 2],
  lane_seconds,
  spans: [],
});

const replay = {
  first_batch: 1,
  num_batches: 2,
  num_batches_drawn: 2,
  measured: schedule(10, { train: 8, "idle:drain": 12 }),
  own: schedule(10.2, { train: 8, "idle:drain": 12.4, pull: 0.001 }),
  chosen: schedule(8, { train: 8, "idle:drain": 8, pull: 0.001 }),
  errors: { recorded: 0.02, costs: -0.03 },
  spec: {},
  warnings: [],
} as unknown as Replay;

test("only what differs from what was is asked for", () => {
  assert.deepEqual(requestOf(AS_IT_WAS), {});
  const chosen = { ...AS_IT_WAS, gap: "false", num_rollout: "3", tag: "greedy" };
  assert.deepEqual(requestOf(chosen), { gap: false, num_rollout: 3, tag: "greedy" });
});

test("the error says which way a replay is off", () => {
  assert.equal(errorText(0.031), "3.1 % slower than measured");
  assert.equal(errorText(-0.031), "3.1 % faster than measured");
  assert.match(errorText(0.0001), /^within/);
});

test("a change is compared with the replay as it ran, and called one only beyond the error", () => {
  assert.equal(changeOf(replay), 8 / 10.2 - 1);
  assert.equal(isBeyondError(replay), true);
  assert.equal(isBeyondError({ ...replay, errors: { recorded: 0, costs: 0.3 } }), false);
});

test("lane time is that of a batch, what changes most first, without what is next to nothing", () => {
  assert.deepEqual(classRows(replay), [
    { name: "idle:drain", measured: 6, own: 6.2, chosen: 4 },
    { name: "train", measured: 4, own: 4, chosen: 4 },
  ]);
});

/** As it ran and as chosen, by the seconds of each batch. */
function batches(own: readonly number[], chosen: readonly number[]): Replay {
  const of = (batch_seconds: readonly number[]) => ({
    ...schedule(
      batch_seconds.reduce((sum, seconds) => sum + seconds, 0),
      {},
    ),
    batch_seconds,
  });
  return { ...replay, first_batch: 5, own: of(own), chosen: of(chosen) } as Replay;
}

test("the lead is what the batches so far took less, and says where it turned", () => {
  const turned = batches([10, 10, 10], [12, 8, 5]);
  assert.deepEqual(leads(turned), [-2, 0, 5]);
  assert.equal(leadText(turned), "After 3 batches the replay is 5.0 s ahead of the run. Up to batch 5 it was behind.");
  assert.equal(leadText(batches([10], [11])), "After the batch the replay is 1.0 s behind the run.");
  assert.equal(leadText(batches([10, 10], [10, 10])), "After 2 batches both are level.");
});

test("what was changed is told as it was and as it is, and only where it differs", () => {
  const spec = { ...specDefaults(), prompts: {}, rewards: [] } as unknown as Parameters<typeof changedSettings>[1];
  const was = String(spec.pipeline.max_staleness);
  const other = was === "0" ? "1" : "0";
  const asked = { ...AS_IT_WAS, max_staleness: other, gap: String(!spec.pipeline.gap), tag: spec.pipeline.tag };
  assert.deepEqual(changedSettings(asked, spec, LABELS), [
    `Train groups as they complete: ${spec.pipeline.gap ? "on → off" : "off → on"}`,
    `Staleness allowed: ${was} → ${other}`,
  ]);
  assert.deepEqual(changedTime(replay), ["Idle: nothing left to do −2.2 s"]);
});

test("both schedules have one axis, and what moves one moves the other", () => {
  const span = { lane: "trainer-0", kind: "train", cause: null, start: 0, end: 4 };
  const of = (seconds: number) => ({ ...schedule(seconds, {}), spans: [span] });
  const both = replayTimelines({ ...replay, measured: of(10), chosen: of(8) } as unknown as Replay);
  const end = linked(both);
  const windows = () => [both.ran.prepare(1000), both.replayed.prepare(1000)];
  const [ran, replayed] = windows();
  assert.deepEqual(ran, replayed);
  assert.ok(ran && ran.to >= 10);
  both.replayed.window.zoom(0.5);
  assert.deepEqual(...(windows() as [unknown, unknown]));
  assert.ok((windows()[0]?.to ?? 0) < ran.to);
  both.ran.window.panByShare(0.2);
  assert.equal(both.ran.window.view, both.replayed.window.view);
  end();
  both.ran.window.panByShare(0.2);
  assert.notEqual(both.ran.window.view, both.replayed.window.view);
  assert.deepEqual(
    both.replayed.shown.versions.map(({ policy_version, at }) => [policy_version, at]),
    [
      [1, 4],
      [2, 8],
    ],
  );
});
