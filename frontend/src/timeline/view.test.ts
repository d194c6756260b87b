import assert from "node:assert/strict";
import { test } from "node:test";
import { firstView, fitted, followed, panned, zoomed } from "./view.ts";

const extent = { from: 0, to: 100 };
const view = { from: 20, to: 40, follow: false };

test("zooming keeps the instant under the pointer where it is", () => {
  const closer = zoomed(view, 0.5, 25, extent);
  assert.equal(closer.to - closer.from, 10);
  assert.equal((25 - closer.from) / 10, (25 - view.from) / 20);
});

test("zooming while following keeps the right edge", () => {
  const closer = zoomed({ ...view, follow: true }, 0.5, 25, extent);
  assert.deepEqual(closer, { from: 30, to: 40, follow: true });
});

test("zooming has a bound on either side", () => {
  const closest = zoomed(view, 1e-9, 25, extent);
  assert.ok(Math.abs(closest.to - closest.from - 0.005) < 1e-9);
  const widest = zoomed(view, 1e9, 25, extent);
  assert.ok(Math.abs(widest.to - widest.from - 121) < 1e-9, "the recorded time, a fifth more, and a second");
});

test("panning stops following and never loses the recorded time", () => {
  const far = panned({ ...view, follow: true }, 1e6, extent);
  assert.equal(far.follow, false);
  assert.equal(far.from, 95, "a quarter of the window still shows recorded time");
  assert.equal(panned(view, -1e6, extent).to, 5);
  assert.deepEqual(panned(view, 3, extent), { from: 23, to: 43, follow: false });
});

test("fitting shows everything with a little space, more of it after the end", () => {
  const all = fitted(extent, false);
  assert.ok(all.from < 0 && all.to > 100);
  assert.ok(all.to - 100 > 0 - all.from);
});

test("following keeps the width and puts the present just before the right edge", () => {
  const now = followed(view, extent);
  assert.ok(Math.abs(now.to - now.from - 20) < 1e-9);
  assert.ok(now.to > 100 && now.to < 101);
  assert.equal(now.follow, true);
});

test("the first window of a live run is its last minute, of any other run all of it", () => {
  const live = firstView(extent, true);
  assert.deepEqual([Math.round(live.to - live.from), live.follow], [60, true]);
  assert.deepEqual(firstView(extent, false), fitted(extent, false));
  assert.deepEqual(firstView({ from: 0, to: 30 }, true), fitted({ from: 0, to: 30 }, true));
});
