import assert from "node:assert/strict";
import { test } from "node:test";
import { span } from "../testing/builders.ts";
import { calls, sceneOf } from "../testing/canvas.ts";
import { drawPlan } from "./draw_plan.ts";
import { LaneTracks } from "./lane_tracks.ts";

const planned = {
  seconds: 10,
  spans: [
    { lane: "rollout-0", kind: "generate" as const, cause: null, start: 0, end: 4 },
    { lane: "rollout-0", kind: "idle" as const, cause: "drain" as const, start: 4, end: 10 },
  ],
};

function paint(to: number | null) {
  const lanes = new LaneTracks();
  lanes.add(span({ lane: "rollout-0", start: 100, end: 150 }));
  const { scene, painted } = sceneOf({ from: 100, to: 150 }, 1);
  drawPlan({ ...scene, layout: { ...scene.layout, planHeight: 7 } }, lanes.tracks, [
    { version: 3, from: 110, to, planned },
  ]);
  return { left: scene.layout.labelWidth, rectangles: calls(painted, "fillRect") };
}

test("planned work is a faint strip from its batch's version on; idle time is left out", () => {
  const { left, rectangles } = paint(130);
  const work = rectangles.filter(({ colour }) => colour.startsWith("--span-generate/"));
  assert.deepEqual(
    work.map(({ args }) => args[0]),
    [left + 100],
  );
  assert.equal(work[0]?.args[3], 6);
  assert.ok(!rectangles.some(({ colour }) => colour.startsWith("idle")));
});

test("a line is as long as the batch was promised, with a stop where the batch took longer", () => {
  const { left, rectangles } = paint(130);
  const lines = rectangles.filter(({ colour }) => colour.startsWith("--ink-3/")).map(({ args }) => args);
  assert.deepEqual(lines[0]?.slice(0, 3), [left + 100, lines[0]?.[1], 100]);
  assert.equal(lines[1]?.[0], left + 199);
  const cut = paint(115).rectangles.filter(({ colour }) => colour.startsWith("--ink-3/"));
  assert.deepEqual(
    cut.map(({ args }) => args[2]),
    [50],
  );
});
