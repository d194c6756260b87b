import assert from "node:assert/strict";
import { test } from "node:test";
import { firstEndingAfter, spanAt, spansIn } from "./search.ts";

const span = (start: number, end: number) => ({ start, end });
const spans = [span(0, 1), span(1, 1.001), span(5, 6)];

test("the span under an instant is found, a gap has none, a hair-thin one is hit with slack", () => {
  assert.equal(firstEndingAfter(spans, 3), 2);
  assert.equal(spanAt(spans, 0.5, 0), spans[0]);
  assert.equal(spanAt(spans, 3, 0.1), null);
  assert.equal(spanAt(spans, 1.05, 0.1), spans[1]);
  assert.equal(spanAt(spans, 4.95, 0.1), spans[2]);
});

test("spans are half-open: where two meet, the later one is found", () => {
  assert.equal(spanAt(spans, 1, 0), spans[1]);
  assert.equal(firstEndingAfter(spans, 1), 1);
});

test("of two spans within slack the nearer one is hit", () => {
  const pair = [span(0, 1), span(2, 3)];
  assert.equal(spanAt(pair, 1.4, 1), pair[0]);
  assert.equal(spanAt(pair, 1.6, 1), pair[1]);
});

test("beyond the last span there is nothing, and an empty lane has nothing at all", () => {
  assert.equal(firstEndingAfter(spans, 99), 3);
  assert.equal(spanAt(spans, 99, 1), null);
  assert.equal(spanAt([], 0, 1), null);
});

test("a window holds the spans that touch it", () => {
  assert.deepEqual([...spansIn(spans, { from: 0.5, to: 5.5 })], spans);
  assert.deepEqual(
    [...spansIn(spans, { from: 1.001, to: 5 })],
    [],
    "one ends where it begins, one starts where it ends",
  );
  assert.deepEqual([...spansIn(spans, { from: 5.9, to: 50 })], [spans[2]]);
});

test("searching agrees with looking at every span", () => {
  const many = Array.from({ length: 200 }, (_, index) => span(index * 0.7, index * 0.7 + 0.5));
  for (let time = -1; time < 145; time += 0.31) {
    const expected = many.findIndex((one) => one.end > time);
    assert.equal(firstEndingAfter(many, time), expected < 0 ? many.length : expected);
  }
});
