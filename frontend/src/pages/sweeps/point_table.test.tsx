import assert from "node:assert/strict";
import { test } from "node:test";
import { attributes, textOf } from "../../testing/markup.ts";
import { sweepOf, sweptPoint } from "../../testing/sweep_builders.ts";
import { PointTable } from "./point_table.tsx";

const RATE = "optimizer.learning_rate";
const PRUNED = {
  num_samples: 64,
  value: 0.2,
  is_pruned: true,
  reason: "eval/reward 0.2 at 64 samples: place 2 of 2",
  at: "2026-11-23T12:00:00Z",
};
const SWEEP = sweepOf({
  space: { [RATE]: { kind: "choice", values: [0.001, 0.002, 0.003] } },
  points: [
    sweptPoint(1, { [RATE]: 0.001 }, [0.1, 0.3], { state: "pruned", rungs: [PRUNED] }),
    sweptPoint(2, { [RATE]: 0.002 }, [0.5, 0.7]),
    sweptPoint(3, { [RATE]: 0.003 }, [], { state: "waiting" }),
  ],
});
const table = (sweep = SWEEP) => (
  <PointTable sweep={sweep} isShown={({ number }) => number !== 3} selected={null} onSelect={() => undefined} />
);

test("points stand from the best down, a pruned one with why", () => {
  const text = textOf(table());
  assert.match(
    text,
    /2 0\.002 running best 0\.6 400 1 .* 1 0\.001 pruned eval\/reward 0\.2 at 64 samples: place 2 of 2/,
  );
  assert.match(text, /Points Compare the best 2 2 of 3/);
});

test("with several seeds the spread stands beside the mean", () => {
  const spread = textOf(table(sweepOf({ ...SWEEP, plan: { ...SWEEP.plan, num_seeds: 2 } })));
  assert.match(spread, /best 0\.6 0\.5 – 0\.7/);
  assert.doesNotMatch(textOf(table()), /Over seeds/);
});

test("where less is better, the least is the best", () => {
  assert.match(textOf(table(sweepOf({ ...SWEEP, maximise: false }))), /1 0\.001 pruned .* best 0\.2/);
});

test("each run is a link of its seed", () => {
  const links = attributes(table(), "href").filter((address) => address.startsWith("/runs/"));
  assert.equal(links.length, 4);
});
