import assert from "node:assert/strict";
import { test } from "node:test";
import type { TimelineSpan } from "../api/schema.ts";
import { span } from "../testing/builders.ts";
import { sceneOf } from "../testing/canvas.ts";
import { rectanglesOf } from "./rectangles.ts";

/** A window of 50 s with 10 pixels a second, beginning beside the labels. */
const { scene } = sceneOf({ from: 100, to: 150 }, 1);
const LEFT = scene.layout.labelWidth;

const drawn = (spans: readonly TimelineSpan[]) =>
  [...rectanglesOf(spans, scene)].map(({ left, right, kind }) => [
    Math.round((left - LEFT) * 100) / 100,
    Math.round((right - LEFT) * 100) / 100,
    kind,
  ]);

test("a span fills the pixels of its time", () => {
  assert.deepEqual(drawn([span({ start: 101, end: 103 }), span({ start: 103, end: 104, kind: "decode" })]), [
    [10, 30, "generate"],
    [30, 40, "decode"],
  ]);
});

test("spans that reach beyond the window end just outside of it", () => {
  assert.deepEqual(drawn([span({ start: 0, end: 1000 })]), [[-2, scene.layout.width - LEFT + 2, "generate"]]);
});

test("spans thinner than a pixel become one pixel of what fills most of it", () => {
  const thin = [
    span({ start: 110, end: 110.02, kind: "decode" }),
    span({ start: 110.02, end: 110.08, kind: "score" }),
    span({ start: 110.08, end: 110.1, kind: "pull" }),
  ];
  assert.deepEqual(drawn(thin), [[100, 101, "score"]]);
});

test("twenty thousand spans cost at most a rectangle a pixel", () => {
  const many = Array.from({ length: 20_000 }, (_, index) =>
    span({ start: 100 + index * 0.0025, end: 100 + (index + 1) * 0.0025, kind: index % 2 ? "decode" : "generate" }),
  );
  const rectangles = drawn(many);
  assert.ok(rectangles.length <= 501, String(rectangles.length));
  assert.ok(rectangles.every(([left, right]) => Number(right) - Number(left) === 1));
});

test("a thin span before a wide one is not lost, nor one after it", () => {
  const spans = [
    span({ start: 110, end: 110.05, kind: "pull" }),
    span({ start: 110.05, end: 112 }),
    span({ start: 112, end: 112.05, kind: "decode" }),
  ];
  assert.deepEqual(
    drawn(spans).map(([, , kind]) => kind),
    ["pull", "generate", "decode"],
  );
});

test("only a rectangle of one span says which", () => {
  const wide = span({ start: 101, end: 103 });
  const [first, second] = [...rectanglesOf([wide, span({ start: 110, end: 110.01 })], scene)];
  assert.equal(first?.span, wide);
  assert.equal(second?.span, null);
});

test("what lies outside the window is not drawn", () => {
  assert.deepEqual(drawn([span({ start: 0, end: 100 }), span({ start: 150, end: 160 })]), []);
});
