import assert from "node:assert/strict";
import { test } from "node:test";
import type { SplitPoint } from "../api/schema.ts";
import { plan, planChoice } from "../testing/builders.ts";
import { attributes, markup, textOf } from "../testing/markup.ts";
import { modeLabel } from "./plan_words.ts";
import { SplitChart } from "./split_chart.tsx";

const point = (num_trainer: number, samples_per_second: number, is_simulated = true): SplitPoint => ({
  num_trainer,
  samples_per_second,
  is_simulated,
});

/** Four lanes, of which one trains: `tsp` was not simulated with three. */
const PLAN = plan({
  by_mode: { gap: planChoice({ num_trainer: 1 }), colocated: planChoice({ samples_per_second: 1 }) },
  curves: { gap: [point(1, 2), point(2, 1.5), point(3, 1)], tsp: [point(1, 1), point(3, 1.2, false)] },
  bound_samples_per_second: 4,
});

const WIDTH = 420;
const chart = <SplitChart plan={PLAN} />;

test("more throughput is higher, more trainer lanes are further right, all within the chart", () => {
  const [gap] = attributes(chart, "points").slice(-1);
  const points = (gap ?? "").split(" ").map((pair) => pair.split(",").map(Number));
  assert.equal(points.length, 3);
  const [xs, ys] = [points.map(([x]) => x ?? NaN), points.map(([, y]) => y ?? NaN)];
  assert.deepEqual(
    [...xs].sort((a, b) => a - b),
    xs,
  );
  assert.deepEqual(
    [...ys].sort((a, b) => a - b),
    ys,
    "y grows downwards",
  );
  assert.ok(Math.min(...xs) > 0 && Math.max(...xs) < WIDTH);
});

test("the chosen mode comes first in the legend and is drawn above the others", () => {
  assert.ok(textOf(chart).endsWith(`${modeLabel("gap")} (chosen) ${modeLabel("tsp")}`));
  const [below, above] = attributes(chart, "points");
  assert.equal(below?.split(" ").length, 2);
  assert.equal(above?.split(" ").length, 3);
});

test("limits that were not simulated are outlined and say so", () => {
  assert.equal(markup(chart).match(/class="limit"/g)?.length, 1);
  assert.match(markup(chart), /3 trainer lanes: 1\.2 samples\/s, not simulated/);
});

test("only the chosen split of the chosen mode is large", () => {
  assert.equal(attributes(chart, "r").filter((radius) => radius === "5.5").length, 1);
});

test("the bound and the colocated mode, which has no split, are levels", () => {
  assert.match(textOf(chart), /bound colocated/);
  assert.doesNotMatch(textOf(<SplitChart plan={plan({ curves: PLAN.curves })} />), /colocated/);
});

test("the number of ticks stays small", () => {
  const many = Array.from({ length: 100 }, (_, index) => point(index + 1, 1));
  const anchors = attributes(<SplitChart plan={plan({ curves: { gap: many } })} />, "text-anchor");
  const ticks = anchors.filter((anchor) => anchor === "middle").length - 1;
  assert.ok(ticks >= 4 && ticks <= 8, `${ticks} beside the axis' label`);
});

test("with one lane there is nothing to split", () => {
  assert.equal(markup(<SplitChart plan={plan({ curves: { gap: [point(1, 2)] } })} />), "");
  assert.equal(markup(<SplitChart plan={plan()} />), "");
});
