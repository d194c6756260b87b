import assert from "node:assert/strict";
import { test } from "node:test";
import type { Series } from "../../api/schema.ts";
import { curveOf } from "../../live/growing_curve.ts";
import { installBrowser } from "../../testing/browser.ts";
import { run, sample, series } from "../../testing/builders.ts";
import {
  alignedByPrompt,
  type ComparedRun,
  MAX_COMPARED,
  metricsOf,
  type OverlaidLine,
  overlaid,
  readRuns,
  samplesPerBatch,
} from "./compared_run.ts";

/** A line of one run that started at `started` (Unix seconds; points come from 100 on). */
function line(name: string, curves: Readonly<Record<string, Series>>, started = 100): OverlaidLine {
  return { name, colour: "--series-1", members: [compared(name, curves, started)] };
}

function compared(name: string, curves: Readonly<Record<string, Series>>, started = 100): ComparedRun {
  return {
    run: run({ name, started_at: new Date(started * 1000).toISOString() }),
    curves: new Map(Object.entries(curves).map(([key, value]) => [key, curveOf(value)])),
    keys: Object.keys(curves),
    colour: "--series-1",
  };
}

const KEY = "reward/mean";
const BY_BATCH = { axis: "batch", smoothing: 0 } as const;

test("curves of several runs share one x, and runs without the metric have no line", () => {
  const lines = [line("long", { [KEY]: series([1, 2, 3]) }), line("none", {}), line("short", { [KEY]: series([4]) })];
  const { having, columns } = overlaid(lines, KEY, BY_BATCH);
  assert.deepEqual(
    having.map((one) => one.name),
    ["long", "short"],
  );
  assert.deepEqual(columns.x, [1, 2, 3]);
  assert.deepEqual(columns.raw, [
    [1, 2, 3],
    [4, null, null],
  ]);
});

test("wall time counts from each run's own start", () => {
  const lines = [line("first", { [KEY]: series([1]) }, 90), line("second", { [KEY]: series([2]) }, 40)];
  assert.deepEqual(overlaid(lines, KEY, { axis: "wall", smoothing: 0 }).columns.x, [10, 60]);
});

test("samples are batches times the trajectories of one batch", () => {
  const one = line("one", { [KEY]: series([1, 2]) });
  const size = samplesPerBatch((one.members[0] as ComparedRun).run);
  assert.deepEqual(overlaid([one], KEY, { axis: "samples", smoothing: 0 }).columns.x, [size, 2 * size]);
});

test("smoothing smooths the lines and leaves the raw values", () => {
  const lines = ["a", "b"].map((name) => line(name, { [KEY]: series([0, 10]) }));
  const { lines: smoothed, raw } = overlaid(lines, KEY, { axis: "batch", smoothing: 0.5 }).columns;
  assert.deepEqual(raw[1], [0, 10]);
  assert.ok((smoothed[1]?.[1] ?? 10) < 10);
});

test("a mean of seeds stands only where all of them have a point", () => {
  const members = [compared("a", { [KEY]: series([1, 2, 9]) }), compared("b", { [KEY]: series([3, 4]) })];
  const { columns } = overlaid([{ name: "mean", colour: "--series-1", members }], KEY, BY_BATCH);
  assert.deepEqual([columns.x, columns.raw], [[1, 2], [[2, 3]]]);
});

test("metrics of curated panels come first, in the panels' order, each once", () => {
  const runs = [
    compared("a", { "policy/kl": series([1]), "a/new": series([1]) }),
    compared("b", { [KEY]: series([1]), "policy/kl": series([1]) }),
  ];
  assert.deepEqual(metricsOf(runs), [KEY, "policy/kl", "a/new"]);
});

test("no more than eight runs are read, with the curves asked for, and one that cannot be read says why", async () => {
  const asked: string[] = [];
  installBrowser(({ address }) => {
    asked.push(address);
    if (address.includes("gone")) return { status: 404, json: { detail: "No run has this id." } };
    return {
      json: address.includes("/metrics") ? { series: { [KEY]: series([1]) }, keys: [KEY], stream_seq: 1 } : run(),
    };
  });
  const ids = ["gone", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
  const read = await readRuns(ids, [KEY]);
  assert.equal(read.length, MAX_COMPARED);
  assert.deepEqual(read[0], { id: "gone", message: "No run has this id." });
  assert.equal(new Set(read.flatMap((one) => ("run" in one ? [one.colour] : []))).size, MAX_COMPARED - 1);
  assert.equal(asked.filter((address) => address.includes("/metrics")).length, MAX_COMPARED);
  assert.ok(
    asked.filter((address) => address.includes("/metrics")).every((address) => address.includes("reward%2Fmean")),
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
