import assert from "node:assert/strict";
import { test } from "node:test";
import { tickLabel, ticksOf } from "./ticks.ts";

test("ticks stand at round times since the origin", () => {
  const ticks = ticksOf({ from: 1000, to: 1060 }, 6, 1000);
  assert.deepEqual(
    ticks.map(({ at, label }) => [at, label]),
    [0, 10, 20, 30, 40, 50, 60].map((second) => [
      1000 + second,
      second === 60 ? "1:00" : `0:${String(second).padStart(2, "0")}`,
    ]),
  );
});

test("there are never more ticks than there is room for, at any zoom", () => {
  for (const width of [0.01, 1, 47, 3000, 90_000, 4e6]) {
    const ticks = ticksOf({ from: 17, to: 17 + width }, 8, 0);
    assert.ok(ticks.length > 0 && ticks.length <= 9, `${width} s: ${ticks.length}`);
  }
});

test("a window before the origin is labelled with a sign", () => {
  assert.deepEqual(
    ticksOf({ from: -20, to: 0 }, 2, 0).map(({ label }) => label),
    ["−0:20", "−0:10", "0:00"],
  );
});

test("a label is as fine as the step between ticks needs", () => {
  assert.equal(tickLabel(65, 5), "1:05");
  assert.equal(tickLabel(5.5, 0.5), "0:05.5");
  assert.equal(tickLabel(5.25, 0.05), "0:05.25");
  assert.equal(tickLabel(5.125, 0.005), "0:05.125");
  assert.equal(tickLabel(7265, 60), "2:01:05");
  assert.equal(tickLabel(-3, 1), "−0:03");
});

test("sixty seconds are a minute, also where rounding makes them so", () => {
  assert.equal(tickLabel(59.96, 0.1), "1:00.0");
  assert.equal(tickLabel(3599.9999, 1), "1:00:00");
});
