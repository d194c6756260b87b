import assert from "node:assert/strict";
import { test } from "node:test";
import type { Series } from "../../api/schema.ts";
import { curveOf } from "../../live/growing_curve.ts";
import { installBrowser } from "../../testing/browser.ts";
import { run, sample, series } from "../../testing/builders.ts";
import { alignedByPrompt, type ComparedRun, metricsOf, overlaid, readRun } from "./compared_run.ts";

/** A run that started at `started` (Unix seconds; points come from 100 on). */
function compared(name: string, curves: Readonly<Record<string, Series>>, started = 100): ComparedRun {
  return {
    run: run({ name, started_at: new Date(started * 1000).toISOString() }),
    curves: new Map(Object.entries(curves).map(([key, value]) => [key, curveOf(value)])),
    colour: "--series-1",
  };
}

const KEY = "reward/mean";
const BY_BATCH = { axis: "batch", smoothing: 0, kernel: "ema", scale: "linear" } as const;

test("curves of several runs share one x, and runs without the metric have no line", () => {
  const runs = [
    compared("long", { [KEY]: series([1, 2, 3]) }),
    compared("none", {}),
    compared("short", { [KEY]: series([4]) }),
  ];
  const { having, columns } = overlaid(runs, KEY, BY_BATCH);
  assert.deepEqual(
    having.map((one) => one.run.name),
    ["long", "short"],
  );
  assert.deepEqual(columns.x, [1, 2, 3]);
  assert.deepEqual(columns.raw, [
    [1, 2, 3],
    [4, null, null],
  ]);
  assert.equal(columns.low, null);
});

test("wall time counts from each run's own start", () => {
  const runs = [compared("first", { [KEY]: series([1]) }, 90), compared("second", { [KEY]: series([2]) }, 40)];
  assert.deepEqual(overlaid(runs, KEY, { ...BY_BATCH, axis: "wall" }).columns.x, [10, 60]);
});

test("smoothing smooths the lines and leaves the raw values", () => {
  const runs = ["a", "b"].map((name) => compared(name, { [KEY]: series([0, 10]) }));
  const { lines, raw } = overlaid(runs, KEY, { ...BY_BATCH, smoothing: 0.9 }).columns;
  assert.deepEqual(raw[1], [0, 10]);
  assert.ok((lines[1]?.[1] ?? 10) < 10);
});

test("one run alone keeps the envelope of its curve", () => {
  const { columns } = overlaid([compared("only", { [KEY]: series([1, 2], 0.5) })], KEY, BY_BATCH);
  assert.deepEqual(
    [columns.low, columns.high],
    [
      [0.5, 1.5],
      [1.5, 2.5],
    ],
  );
});

test("metrics of curated panels come first, in the panels' order, each once", () => {
  const runs = [
    compared("a", { "policy/kl": series([1]), "a/new": series([1]) }),
    compared("b", { [KEY]: series([1]), "policy/kl": series([1]) }),
  ];
  assert.deepEqual(metricsOf(runs), [KEY, "policy/kl", "a/new"]);
});

test("a run is read with its curves, and the eleventh has the first one's colour", async () => {
  installBrowser(({ address }) => ({
    json: address.includes("/metrics") ? { series: { [KEY]: series([1, 2]) }, stream_seq: 1 } : run(),
  }));
  const read = await Promise.all([readRun("run-1", 0), readRun("run-1", 10)]);
  assert.deepEqual(read[0].curves.get(KEY)?.value, [1, 2]);
  assert.deepEqual(
    read.map((one) => one.colour),
    ["--series-1", "--series-1"],
  );
});

test("runs stand side by side prompt by prompt, those that all have first, members in order", () => {
  const [first, second] = [
    [sample({ prompt: "only here" }), sample({ prompt: "both", member: 1 }), sample({ prompt: "both" })],
    [sample({ prompt: "both" })],
  ];
  assert.deepEqual(
    alignedByPrompt([first, second]).map(([prompt, cells]) => [
      prompt,
      cells.map((cell) => cell.map((one) => one.member)),
    ]),
    [
      ["both", [[0, 1], [0]]],
      ["only here", [[0], []]],
    ],
  );
});

test("prompts that lack as many runs keep their order", () => {
  const rows = alignedByPrompt([[sample({ prompt: "b" }), sample({ prompt: "a" })], [sample({ prompt: "c" })]]);
  assert.deepEqual(
    rows.map(([prompt]) => prompt),
    ["b", "a", "c"],
  );
});

test("without samples there are no rows", () => {
  assert.deepEqual(alignedByPrompt([[], []]), []);
});
