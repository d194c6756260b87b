import assert from "node:assert/strict";
import { test } from "node:test";
import { calls, sceneOf } from "../testing/canvas.ts";
import { depthsIn, drawQueueLabels, drawQueues, queueNames } from "./draw_queues.ts";
import { QUEUE_HEIGHT } from "./layout.ts";

const at = (time: number, depths: Record<string, number>) => ({ at: time, depths });

test("queues are named by the newest events", () => {
  const old = Array.from({ length: 60 }, (_, index) => at(index, { gone: 1 }));
  const recent = Array.from({ length: 50 }, (_, index) => at(60 + index, { ready: 1, to_score: 2 }));
  assert.deepEqual(queueNames([...old, ...recent]), ["ready", "to_score"]);
});

test("a queue keeps its place, whatever order an event names the queues in", () => {
  assert.deepEqual(queueNames([at(0, { to_score: 2, ready: 1 })]), queueNames([at(0, { ready: 1, to_score: 2 })]));
});

test("the depth before the window still holds at its left edge", () => {
  const queues = [at(0, { a: 1 }), at(10, { a: 2 }), at(20, { a: 3 }), at(99, { a: 4 })];
  assert.deepEqual(
    depthsIn(queues, { from: 12, to: 50 }).map((one) => one.at),
    [10, 20],
  );
  assert.deepEqual(
    depthsIn(queues, { from: 200, to: 300 }).map((one) => one.at),
    [99],
  );
});

test("the deepest queue reaches the top of the strip, and an empty one lies at its foot", () => {
  const { scene, painted } = sceneOf({ from: 0, to: 50 }, 1, true);
  drawQueues(scene, [at(0, { a: 0 }), at(10, { a: 5 })]);
  const heights = [...calls(painted, "moveTo"), ...calls(painted, "lineTo")].map(({ args }) => Number(args[1]));
  const { queueTop } = scene.layout;
  assert.equal(Math.max(...heights), queueTop + QUEUE_HEIGHT - 8);
  assert.equal(Math.min(...heights), queueTop + 8);
});

test("each queue has a colour, the same for its line and its name", () => {
  const queues = [at(0, { a: 1, b: 2 })];
  const { scene, painted } = sceneOf({ from: 0, to: 50 }, 1, true);
  drawQueues(scene, queues);
  drawQueueLabels(scene, queues);
  assert.deepEqual(
    calls(painted, "stroke").map(({ colour }) => colour),
    ["--series-1", "--series-2"],
  );
  const names = calls(painted, "fillText").filter(({ args }) => args[1] === 0);
  assert.deepEqual(
    names.map(({ args, colour }) => [args[0], colour]),
    [
      ["a", "--series-1"],
      ["b", "--series-2"],
    ],
  );
});

test("more names than there is room for are left out", () => {
  const { scene, painted } = sceneOf({ from: 0, to: 50 }, 1, true);
  drawQueueLabels(scene, [at(0, { a: 1, b: 1, c: 1, d: 1, e: 1 })]);
  assert.equal(calls(painted, "fillText").length, 4);
});
