import assert from "node:assert/strict";
import { test } from "node:test";
import { fakeCanvas, sceneOf } from "../testing/canvas.ts";
import { fitted, fontOf, timeToX } from "./scene.ts";

test("instants lie between the labels and the right edge", () => {
  const { scene } = sceneOf({ from: 100, to: 150 }, 1);
  assert.equal(timeToX(scene, 100), scene.layout.labelWidth);
  assert.equal(timeToX(scene, 150), scene.layout.width);
  assert.equal(timeToX(scene, 125), (scene.layout.labelWidth + scene.layout.width) / 2);
});

test("text that does not fit is cut to what does, with a sign that it was", () => {
  const { context } = fakeCanvas();
  assert.equal(fitted(context, "rollout", 100), "rollout");
  assert.equal(fitted(context, "rollout-12", 36), "rollo…");
  assert.equal(fitted(context, "rollout", 1), "r…");
});

test("fonts are the page's own", () => {
  const { scene } = sceneOf({ from: 0, to: 1 }, 1);
  assert.equal(fontOf(scene, 11), "11px sans");
  assert.equal(fontOf(scene, 10.5, "600"), "600 10.5px sans");
});
