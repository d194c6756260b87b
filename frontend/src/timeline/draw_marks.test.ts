import assert from "node:assert/strict";
import { test } from "node:test";
import type { TimelineSpan } from "../api/schema.ts";
import { resizeReport, span, timeline } from "../testing/builders.ts";
import { calls, sceneOf } from "../testing/canvas.ts";
import { drawChanges, drawLends, drawPulls, laneHelped, lentStretches } from "./draw_marks.ts";
import { rowTop } from "./layout.ts";
import { timeToX } from "./scene.ts";
import { TimelineState } from "./timeline_state.ts";

const lent = (start: number, fields: Partial<TimelineSpan> = {}) =>
  span({ lane: "trainer-0", kind: "lent_generate", start, end: start + 2, ...fields });

function stateOf(spans: readonly TimelineSpan[], versions: readonly { policy_version: number; at: number }[] = []) {
  const state = new TimelineState(() => 0);
  state.load(timeline({ spans, versions }));
  return state;
}

test("a stretch of lending is one, whatever is decoded and pulled in between", () => {
  const spans = [
    lent(0),
    span({ kind: "decode", start: 2 }),
    lent(3),
    span({ kind: "pull", start: 5 }),
    lent(6),
    span({ kind: "train", start: 8 }),
    span({ kind: "decode", start: 9 }),
    lent(10),
  ];
  assert.deepEqual(
    [...lentStretches(spans)].map((one) => one.start),
    [0, 10],
  );
});

test("lent work goes to the lane that generates another part of the same group", () => {
  const { tracks } = stateOf([
    lent(0, { batch: 1, group: 4 }),
    span({ lane: "rollout-0", batch: 1, group: 3 }),
    span({ lane: "rollout-1", batch: 1, group: 4 }),
  ]).lanes;
  assert.equal(laneHelped(tracks, lent(0, { batch: 1, group: 4 }), 0), 2);
  assert.equal(laneHelped(tracks, lent(0, { batch: 2, group: 4 }), 0), 1, "of another batch: the nearest");
});

test("without a group the nearest rollout lane is meant, without rollout lanes none", () => {
  const { tracks } = stateOf([lent(0), span({ lane: "rollout-0" }), span({ lane: "rollout-1" })]).lanes;
  assert.equal(laneHelped(tracks, lent(0), 0), 1);
  assert.equal(laneHelped(tracks, lent(0), 5), 2);
  assert.equal(laneHelped(stateOf([lent(0)]).lanes.tracks, lent(0), 0), null);
});

test("each stretch of lending gets an arrow to its lane, unless it stands too near the last one", () => {
  const { lanes } = stateOf([
    lent(110),
    span({ lane: "trainer-0", kind: "train", start: 112, end: 113 }),
    lent(113),
    span({ lane: "trainer-0", kind: "train", start: 115, end: 130 }),
    lent(130),
    span({ lane: "rollout-0", start: 100, end: 150 }),
  ]);
  const { scene, painted } = sceneOf({ from: 100, to: 150 }, 2);
  drawLends(scene, lanes.tracks);
  const heads = calls(painted, "arc").filter(({ colour }) => colour === "--ink");
  assert.deepEqual(
    heads.map(({ args }) => Math.round(Number(args[0]) - scene.layout.labelWidth)),
    [110, 140, 310],
  );
  const from = rowTop(scene.layout, 0) + scene.layout.rowHeight / 2;
  assert.ok(heads.every(({ args }) => args[1] === from));
  const { scene: far, painted: crowded } = sceneOf({ from: 0, to: 500 }, 2);
  drawLends(far, lanes.tracks);
  assert.equal(calls(crowded, "arc").filter(({ colour }) => colour === "--ink").length, 2, "one a second is too near");
});

test("a pull is led back to when its version was published, on rollout lanes alone", () => {
  const pull = (name: string, version: number | null) =>
    span({ lane: name, kind: "pull", start: 120, end: 121, policy_version: version });
  const state = stateOf(
    [pull("rollout-0", 1), pull("rollout-1", 2), pull("rollout-2", null), pull("trainer-0", 1)],
    [{ policy_version: 1, at: 115 }],
  );
  const { scene, painted } = sceneOf({ from: 100, to: 150 }, 4);
  drawPulls(scene, state.tracks, state.shown.versions);
  const lines = calls(painted, "fillRect");
  assert.equal(lines.length, 1);
  const [left = 0, top = 0, width] = lines[0]?.args.map(Number) ?? [];
  assert.deepEqual([left - scene.layout.labelWidth, width], [150, 60]);
  assert.ok(top > rowTop(scene.layout, 1) && top < rowTop(scene.layout, 2), "the first rollout lane stands second");
});

test("a version that was published after a pull ended was not pulled by it", () => {
  const state = stateOf(
    [span({ kind: "pull", start: 120, end: 121, policy_version: 1 })],
    [{ policy_version: 1, at: 130 }],
  );
  const { scene, painted } = sceneOf({ from: 100, to: 150 }, 1);
  drawPulls(scene, state.tracks, state.shown.versions);
  assert.deepEqual(calls(painted, "fillRect"), []);
});

test("a resize is marked where it ended, a failed one in its own colour, and none outside the window", () => {
  const { scene, painted } = sceneOf({ from: 0, to: 50 }, 1);
  const failed = resizeReport({ state: "failed" });
  const resizes = [
    { at: 10, resize: resizeReport() },
    { at: 20, resize: failed },
    { at: 60, resize: failed },
  ];
  drawChanges(scene, { resizes, plans: [] });
  assert.deepEqual(
    calls(painted, "fillText").map(({ args, colour }) => [args[0], colour]),
    [
      ["resized", "--ink-2"],
      ["resize failed", "--bad"],
    ],
  );
});

const plan = (at: number) => ({ at, batch: 1, reason: "", batch_seconds: 10 });

test("labels lie beneath the lanes, those of plans beneath those of resizes", () => {
  const { scene, painted } = sceneOf({ from: 0, to: 50 }, 2);
  drawChanges(scene, { resizes: [{ at: 10, resize: resizeReport() }], plans: [plan(10)] });
  const heights = calls(painted, "fillText").map(({ args }) => Number(args[2]));
  assert.deepEqual(
    heights,
    heights.toSorted((a, b) => a - b),
  );
  assert.ok(heights.every((height) => height > rowTop(scene.layout, 2)));
});

test("labels do not overlap, and one at the right edge stands before its line", () => {
  const { scene, painted } = sceneOf({ from: 0, to: 50 }, 1);
  drawChanges(scene, { resizes: [], plans: [plan(1), plan(2), plan(49)] });
  const [first, last, ...others] = calls(painted, "fillText").map(({ args }) => Number(args[1]));
  assert.deepEqual(others, []);
  assert.equal(calls(painted, "stroke").length, 3);
  assert.ok(first !== undefined && last !== undefined && first > timeToX(scene, 1) && last < timeToX(scene, 49));
});
