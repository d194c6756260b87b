import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { lane, span, timeline } from "../testing/builders.ts";
import { calls, type Painted, sceneOf } from "../testing/canvas.ts";
import { draw } from "./draw.ts";
import { rowTop } from "./layout.ts";
import type { Scene } from "./scene.ts";
import { TimelineState } from "./timeline_state.ts";

let scene: Scene;
let painted: Painted[];
let state: TimelineState;

/** Paint what a REST answer holds, in a window of 50 s with 10 pixels a second. */
function paint(answer: Parameters<typeof timeline>[0], select?: (state: TimelineState) => void): void {
  state = new TimelineState(() => 0);
  state.load(timeline(answer));
  ({ scene, painted } = sceneOf({ from: 100, to: 150 }, state.lanes.tracks.length, state.shown.queues.length > 0));
  select?.(state);
  draw(scene, state);
}

/** Where the window's left edge lies. */
const edge = () => scene.layout.labelWidth;
const texts = () => calls(painted, "fillText").map(({ args }) => args[0]);

beforeEach(() => {
  painted = [];
});

test("a lane's spans are painted in its row, in the colour of their class", () => {
  paint({ spans: [span({ lane: "trainer-0", kind: "train", start: 110, end: 120 }), span({ start: 120, end: 125 })] });
  const [first, second] = calls(painted, "fillRect").filter(({ colour }) => colour.startsWith("--span-"));
  assert.deepEqual(first?.args.slice(0, 2), [edge() + 100, rowTop(scene.layout, 0) + 2]);
  assert.equal(first?.colour, "--span-train");
  assert.deepEqual(second?.args.slice(0, 2), [edge() + 200, rowTop(scene.layout, 1) + 2]);
  assert.equal(second?.colour, "--span-generate");
});

test("idle time is hatched and says nothing", () => {
  paint({ spans: [span({ kind: "idle", cause: "drain", start: 110, end: 130 })] });
  assert.equal(calls(painted, "fillRect").filter(({ colour }) => colour === "idle hatching").length, 1);
  assert.ok(!texts().includes("Idle"));
});

test("a span with room for it names its group, or its class", () => {
  paint({ spans: [span({ start: 110, end: 120, group: 7 }), span({ start: 120, end: 130, kind: "checkpoint" })] });
  assert.ok(texts().includes("g7"));
  assert.ok(texts().includes("Checkpoint"));
  paint({ spans: [span({ start: 110, end: 114, group: 7 })] });
  assert.ok(!texts().includes("g7"), "40 pixels are too few");
});

test("lanes are named with their device, where there is room", () => {
  paint({ lanes: [lane("rollout-0", { device: "gpu 0" })], spans: [span({ start: 110, end: 120 })] });
  assert.ok(texts().includes("rollout-0") && texts().includes("gpu 0"));
  paint({ lanes: [lane("rollout-0-of-a-very-long-name")], spans: [span({ start: 110, end: 120 })] });
  assert.ok(texts().some((text) => String(text).endsWith("…")));
  assert.ok(!texts().includes("cpu"));
});

test("a published version is a tick with its number, but numbers that would overlap are left out", () => {
  const versions = [110, 110.5, 130].map((at, index) => ({ policy_version: index + 1, at }));
  paint({ spans: [span({ start: 110, end: 120 })], versions: [...versions, { policy_version: 9, at: 999 }] });
  assert.deepEqual(
    texts().filter((text) => /^v\d/.test(String(text))),
    ["v1", "v3"],
  );
});

test("queue depths are drawn as steps, their names beside and the most above", () => {
  const queues = [
    { at: 110, depths: { to_generate: 4 } },
    { at: 120, depths: { to_generate: 8 } },
  ];
  paint({ spans: [span({ start: 110, end: 120 })], queues });
  assert.ok(texts().includes("to generate"));
  assert.ok(texts().includes("8"));
  const steps = calls(painted, "lineTo").map(({ args }) => args);
  assert.ok(steps.some(([x]) => x === edge() + 200));
});

test("the span under the pointer is outlined in its own row", () => {
  paint({ spans: [span({ lane: "trainer-0", start: 110, end: 120 }), span({ start: 120, end: 130 })] }, (ready) => {
    const [, track] = ready.lanes.tracks;
    const [chosen] = track?.spans ?? [];
    assert.ok(track && chosen);
    ready.selection.value = { track, span: chosen, lend: undefined, plan: null, x: 0, y: 0 };
  });
  const [outline] = calls(painted, "strokeRect");
  assert.deepEqual(outline?.args.slice(0, 3), [edge() + 200, rowTop(scene.layout, 1) + 1.5, 100]);
});

test("nothing of the plot is painted over the labels: they come last, on their own ground", () => {
  paint({ spans: [span({ start: 0, end: 999 })] });
  const unclipped = painted.findIndex(({ what }) => what === "restore");
  const ground = painted.findLastIndex(({ what, colour }) => what === "fillRect" && colour === "--surface");
  assert.ok(ground > unclipped);
  const [clip] = calls(painted, "rect");
  assert.deepEqual(clip?.args.slice(0, 2), [edge(), 0]);
});
