import assert from "node:assert/strict";
import { test } from "node:test";
import { markup, textOf } from "../testing/markup.ts";
import { Stat } from "./stat.tsx";

test("a figure stands with its unit, its definition and its note", () => {
  const stat = <Stat label="Waiting" definition="Runs that wait for lanes." value={3} unit="runs" note="now" />;
  assert.equal(textOf(stat), "Waiting Runs that wait for lanes. 3 runs now");
});

test("a figure that is not there keeps its place, without a unit", () => {
  assert.equal(textOf(<Stat label="Waiting" definition="Runs." value={null} unit="runs" />), "Waiting Runs. –");
});

test("zero is a figure", () => {
  assert.match(textOf(<Stat label="Waiting" definition="Runs." value={0} />), / 0$/);
});

test("a figure that is broken down elsewhere leads there", () => {
  assert.match(markup(<Stat label="Waiting" definition="Runs." value={1} href="/queue" />), /<a href="\/queue">1<\/a>/);
});
