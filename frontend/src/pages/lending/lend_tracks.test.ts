import assert from "node:assert/strict";
import { test } from "node:test";
import { lend } from "../../testing/builders.ts";
import { borrowers, clockTicks, lendRows } from "./lend_tracks.ts";

const at = (seconds: number) => new Date(seconds * 1000).toISOString();
const WINDOW = { from: 1000, to: 2000 };

test("lends of one lane are in one row, those within runs on a track of their own", () => {
  const rows = lendRows(
    [
      lend({ lane: "a/gpu-10", begin: at(1100), end: at(1200) }),
      lend({ lane: "a/gpu-2", begin: at(1500), end: at(1600) }),
      lend({ lane: "a/gpu-10", kind: "within_run", begin: at(1300), end: at(1400) }),
    ],
    WINDOW,
  );
  assert.deepEqual(
    rows.map(({ lane, between, within }) => [lane, between.length, within.length]),
    [
      ["a/gpu-2", 1, 0],
      ["a/gpu-10", 1, 1],
    ],
  );
});

test("bars are cut to the window, an open lend reaches its end, one outside is not drawn", () => {
  const [row] = lendRows([lend({ begin: at(500), end: at(1250) }), lend({ begin: at(1750), end: null })], WINDOW);
  assert.deepEqual(
    row?.between.map(({ left, width }) => [left, width]),
    [
      [0, 0.25],
      [0.75, 0.25],
    ],
  );
  assert.deepEqual(lendRows([lend({ begin: at(100), end: at(900) })], WINDOW), []);
});

test("the part after the notice is marked", () => {
  const [row] = lendRows([lend({ begin: at(1000), end: at(1500), notice_at: at(1400) })], WINDOW);
  assert.equal(row?.between[0]?.returning, 0.2);
});

test("borrowers keep their number while newer ones come", () => {
  const [first, second] = [lend({ run: "a", begin: at(1) }), lend({ run: "b", begin: at(2) })];
  assert.deepEqual([...borrowers([second, first])], [...borrowers([first, second, lend({ run: "b", begin: at(3) })])]);
});

test("lends of runs without a name belong to one borrower", () => {
  assert.equal(borrowers([lend({ run: null, run_name: "x" }), lend({ run: null, run_name: "x" })]).size, 1);
});

test("ticks stand at round times", () => {
  const ticks = clockTicks({ from: 0, to: 3600 }, 6);
  assert.ok(ticks.length >= 3);
  assert.ok(ticks.every(({ at: seconds }) => seconds % 60 === 0));
});
