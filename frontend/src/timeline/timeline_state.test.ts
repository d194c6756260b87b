import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import type { ResizeReport } from "../api/schema.ts";
import {
  lane,
  lendItem,
  logItem,
  publishItem,
  resizeReport,
  run,
  span,
  spansItem,
  timeline,
} from "../testing/builders.ts";
import { rowTop } from "./layout.ts";
import { TimelineState } from "./timeline_state.ts";

/** Wide enough for 500 pixels of window beside the labels. */
const WIDTH = 632;
const NARROW_LABELS = 66;

let state: TimelineState;
let now: number;

beforeEach(() => {
  now = 0;
  state = new TimelineState(() => now);
});

/** Two lanes that worked from 100 to 200, in the window [100, 200). */
function loaded(isLive = false): TimelineState {
  const spans = [
    span({ lane: "trainer-0", kind: "train", start: 100, end: 150 }),
    span({ lane: "trainer-0", kind: "lent_generate", start: 150, end: 200 }),
    span({ lane: "rollout-0", start: 100, end: 200, batch: 3, group: 2 }),
  ];
  state.isLive.value = isLive;
  state.load(timeline({ spans, lanes: [lane("trainer-0"), lane("rollout-0")], stream_seq: 8 }));
  return state;
}

/** The window that is drawn. */
const window = () => {
  const view = state.prepare(WIDTH);
  assert.ok(view);
  return view;
};

test("a REST answer replaces everything and covers its number", () => {
  state.apply(spansItem(1, [span({ lane: "reward-0" })]));
  loaded();
  assert.deepEqual(
    state.lanes.tracks.map((track) => track.lane),
    ["trainer-0", "rollout-0"],
  );
  assert.equal(state.lastSeq, 8);
  assert.ok(state.isLoaded.value);
  assert.equal(state.version.value, 1);
});

test("spans of the socket become spans of the timeline as they were reported", () => {
  const { num_spans: _, ...reported } = span({ lane: "rollout-7", policy_version: 4, fragment: 2 });
  assert.ok(state.apply(spansItem(1, [reported])));
  assert.deepEqual(state.lanes.tracks[0]?.spans, [{ ...reported, num_spans: 1 }]);
});

test("versions, queues and decisions join those of the answer, and leave the answer alone", () => {
  const versions = [{ policy_version: 1, at: 110 }];
  state.load(timeline({ versions }));
  assert.ok(state.apply(publishItem(9, 2)));
  assert.ok(
    state.apply({ stream_seq: 10, type: "queues", at: 10, attempt: 1, body: { batch: 1, depths: { ready: 2 } } }),
  );
  assert.ok(state.apply(lendItem(11, 1)));
  assert.deepEqual(state.shown.versions, [...versions, { policy_version: 2, at: 9 }]);
  assert.deepEqual(state.shown.queues, [{ at: 10, depths: { ready: 2 } }]);
  assert.equal(state.shown.lends.length, 1);
  assert.equal(versions.length, 1);
});

test("lanes that are placed later get their device, and what is no lane time changes nothing", () => {
  loaded();
  const body = { lanes: [lane("rollout-0", { device: "gpu 3" })], algebra: run().algebra, resize: null };
  assert.ok(state.apply({ stream_seq: 9, type: "lanes", at: 9, attempt: 1, body }));
  assert.equal(state.lanes.tracks[1]?.info?.device, "gpu 3");
  assert.equal(state.apply(logItem(10)), false);
});

test("a resize that has ended is marked where it ended, one under way is not", () => {
  loaded();
  const body = (resize: ResizeReport) => ({ lanes: [], algebra: run().algebra, resize });
  const ended = resizeReport({ state: "failed" });
  state.apply({ stream_seq: 9, type: "lanes", at: 9, attempt: 1, body: body(resizeReport({ state: "accepted" })) });
  state.apply({ stream_seq: 10, type: "lanes", at: 11, attempt: 1, body: body(ended) });
  assert.deepEqual(state.shown.resizes, [{ at: 11, resize: ended }]);
});

test("there is no window before there is a span, nor on a canvas without width", () => {
  assert.equal(state.prepare(WIDTH), null);
  loaded();
  assert.equal(state.prepare(0), null);
  assert.ok(state.prepare(WIDTH));
});

test("an ended run is shown whole", () => {
  loaded();
  const { from, to, follow } = window();
  assert.ok(from <= 100 && to >= 200 && !follow);
  assert.equal(state.isFollowing, false);
});

test("a live run's last minute is shown, and goes with the present", () => {
  now = 200;
  loaded(true);
  const first = window();
  assert.equal(Math.round(first.to - first.from), 60);
  assert.ok(state.isFollowing);
  now = 204;
  assert.ok(Math.abs(window().to - first.to - 4) < 1e-9);
  state.apply(spansItem(9, [span({ lane: "rollout-0", start: 200, end: 230 })]));
  now = 230;
  assert.ok(Math.abs(window().to - first.to - 30) < 1e-9);
});

test("a clock that is far ahead does not empty the window", () => {
  now = 5000;
  loaded(true);
  assert.ok(window().to < 210);
});

test("moving the window by hand stops following, and following takes it back", () => {
  now = 200;
  loaded(true);
  window();
  const { value: moves } = state.window.moves;
  state.window.panByShare(-0.5);
  assert.equal(state.isFollowing, false);
  assert.equal(state.window.moves.value, moves + 1);
  const stopped = window();
  now = 204;
  assert.deepEqual(window(), stopped);
  state.window.follow(true);
  assert.ok(state.isFollowing);
  assert.ok(window().to > 204);
  state.window.follow(false);
  assert.equal(state.isFollowing, false);
});

test("zooming about the pointer keeps its instant, about nothing the middle", () => {
  loaded();
  const before = window();
  const x = NARROW_LABELS + 0.25 * (WIDTH - NARROW_LABELS);
  state.window.zoom(0.5, x);
  const after = window();
  const at = before.from + 0.25 * (before.to - before.from);
  assert.ok(Math.abs(after.from + 0.25 * (after.to - after.from) - at) < 1e-9);
  state.window.zoom(0.5);
  const middle = (after.from + after.to) / 2;
  assert.ok(Math.abs((window().from + window().to) / 2 - middle) < 1e-9);
});

test("dragging moves the window by as much time as the pixels stand for", () => {
  loaded();
  window();
  state.window.zoom(0.2);
  const before = window();
  state.window.panByPixels(WIDTH - NARROW_LABELS);
  const share = (window().from - before.from) / (before.to - before.from);
  assert.ok(Math.abs(share - 1) < 1e-9);
  state.window.showAll();
  assert.ok(window().from <= 100 && window().to >= 200);
});

test("nothing moves before there is something to show", () => {
  state.window.zoom(0.5);
  state.window.panByPixels(10);
  state.window.showAll();
  assert.equal(state.window.moves.value, 0);
});

/** Point at an instant of a lane. */
function point(instant: number, row: number): void {
  const { from, to } = window();
  const x = NARROW_LABELS + ((instant - from) / (to - from)) * (WIDTH - NARROW_LABELS);
  state.point(x, rowTop(state.layout, row) + 3);
}

test("pointing at a span selects it with its lane", () => {
  loaded();
  point(120, 0);
  assert.deepEqual(
    [state.selection.value?.track.lane, state.selection.value?.span.kind, state.selection.value?.lend],
    ["trainer-0", "train", undefined],
  );
  point(120, 1);
  assert.equal(state.selection.value?.span.group, 2);
});

test("a lent span is selected with the decision behind it", () => {
  loaded();
  state.apply({ ...lendItem(9, 4), at: 149 });
  point(160, 0);
  assert.deepEqual([state.selection.value?.span.kind, state.selection.value?.lend?.decision], ["lent_generate", 4]);
});

test("a filter leaves the lanes whose name, role, node or device has all its words", () => {
  const lanes = [lane("trainer-0", { node: "gpu01" }), lane("rollout-0", { device: "H100" }), lane("rollout-1")];
  state.load(timeline({ lanes, spans: lanes.map(({ lane }) => span({ lane, start: 0, end: 10 })) }));
  const shown = (filter: string) => {
    state.filter.value = filter;
    return state.tracks.map((track) => track.lane);
  };
  assert.deepEqual(shown("rollout"), ["rollout-0", "rollout-1"]);
  assert.deepEqual(shown("ROLLOUT h100"), ["rollout-0"]);
  assert.deepEqual(shown("gpu01"), ["trainer-0"]);
  const tall = state.layout.rowsBottom;
  assert.deepEqual(shown("nothing such"), []);
  assert.ok(state.layout.rowsBottom < tall);
  assert.equal(shown(" ").length, 3);
});

test("a filtered row is pointed at where it is drawn", () => {
  loaded();
  state.filter.value = "rollout";
  point(120, 0);
  assert.equal(state.selection.value?.span.group, 2);
});

test("pointing beside the spans selects nothing", () => {
  loaded();
  window();
  const { layout } = state;
  for (const [x, y] of [
    [300, layout.rowsTop - 5],
    [10, rowTop(layout, 0) + 3],
    [300, rowTop(layout, 2) + 3],
  ] as const) {
    state.point(x, y);
    assert.equal(state.selection.value, null, `${x}, ${y}`);
  }
});

test("a selection goes when the pointer leaves and when everything is read anew", () => {
  loaded();
  point(120, 0);
  state.clearSelection();
  assert.equal(state.selection.value, null);
  point(120, 0);
  loaded();
  assert.equal(state.selection.value, null);
});

test("the axis counts from the first recorded instant", () => {
  assert.equal(state.origin, 0);
  loaded();
  assert.equal(state.origin, 100);
});

test("the kinds of the legend are those of finer spans and of the roles' states too", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const states = { start: 100, bucket_seconds: 1, num_buckets: 1, stream_seq: 1 };
  state = new TimelineState(() => 0, {
    states: async () => ({ ...states, roles: [{ role: "rollout", num_lanes: 20, states: { pull: [1], idle: [19] } }] }),
  });
  const names = Array.from({ length: 20 }, (_, index) => `rollout-${index}`);
  state.load(timeline({ spans: names.map((name) => span({ lane: name, start: 100, end: 200 })) }));
  state.prepare(WIDTH);
  assert.deepEqual([...state.kinds], ["generate"]);
  mock.timers.tick(200);
  for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
  assert.deepEqual([...state.kinds].toSorted(), ["generate", "idle", "pull"]);
  mock.timers.reset();
});

test("64 lanes are a row a role until one is opened, and a filter shows the lanes that match", () => {
  state = new TimelineState(() => 0, { states: () => new Promise(() => undefined) });
  const names = [
    ...Array.from({ length: 48 }, (_, index) => `rollout-${index}`),
    ...Array.from({ length: 16 }, (_, index) => `trainer-${index}`),
  ];
  state.load(timeline({ spans: names.map((name) => span({ lane: name, start: 100, end: 200 })) }));
  assert.ok(state.prepare(WIDTH));
  assert.deepEqual([state.fleet.length, state.tracks.length], [2, 0]);
  assert.equal(state.roleAt(state.layout.rowsTop + 1), "trainer");
  state.toggle("rollout");
  assert.deepEqual([state.fleet.length, state.tracks.length], [2, 48]);
  state.point(300, rowTop(state.layout, 0) + 3);
  assert.equal(state.selection.value?.track.lane, "rollout-0");
  state.filter.value = "trainer-3";
  assert.deepEqual([state.fleet.length, state.tracks.map((track) => track.lane)], [0, ["trainer-3"]]);
  state.stop();
});
