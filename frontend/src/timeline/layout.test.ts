import assert from "node:assert/strict";
import { test } from "node:test";
import {
  AXIS_HEIGHT,
  FLEET_HEIGHT,
  fleetAt,
  fleetTop,
  laneAt,
  layoutOf,
  MARK_HEIGHT,
  QUEUE_HEIGHT,
  rowTop,
  spansBox,
} from "./layout.ts";

test("rows lie beneath the axis, one after the other", () => {
  const layout = layoutOf(1000, 3, false);
  assert.deepEqual([rowTop(layout, 0), rowTop(layout, 2)], [AXIS_HEIGHT, AXIS_HEIGHT + 2 * layout.rowHeight]);
  assert.ok(layout.height >= rowTop(layout, 3));
});

test("queue depths get a strip of their own", () => {
  assert.equal(layoutOf(1000, 3, true).height, layoutOf(1000, 3, false).height + QUEUE_HEIGHT);
});

test("labels of marks get lines between the lanes and the queue depths", () => {
  const [without, withTwo] = [layoutOf(1000, 3, true), layoutOf(1000, 3, true, 2)];
  assert.equal(withTwo.rowsBottom, without.rowsBottom);
  assert.equal(withTwo.queueTop, without.queueTop + 2 * MARK_HEIGHT);
});

test("many lanes make dense rows, a narrow page short labels", () => {
  assert.ok(layoutOf(1000, 20, false).rowHeight < layoutOf(1000, 19, false).rowHeight);
  assert.ok(layoutOf(639, 1, false).labelWidth < layoutOf(640, 1, false).labelWidth);
});

test("a height leads back to its lane", () => {
  const layout = layoutOf(1000, 4, false);
  for (const lane of [0, 1, 3]) {
    assert.equal(laneAt(layout, rowTop(layout, lane)), lane);
    assert.equal(laneAt(layout, rowTop(layout, lane) + layout.rowHeight - 0.1), lane);
  }
  assert.equal(laneAt(layout, AXIS_HEIGHT - 1), null);
});

test("fleet rows push the lanes beneath them down, and every height leads to one row", () => {
  const layout = layoutOf(1000, 5, false, 0, [0, 2, 2]);
  const { rowHeight } = layout;
  const order = ["fleet 0", "lane 0", "lane 1", "fleet 1", "fleet 2", "lane 2", "lane 3", "lane 4"];
  let top = AXIS_HEIGHT;
  for (const row of order) {
    const [kind, number] = row.split(" ");
    const [topOf, height] = kind === "fleet" ? [fleetTop, FLEET_HEIGHT] : [rowTop, rowHeight];
    assert.equal(topOf(layout, Number(number)), top, row);
    for (const y of [top, top + height - 0.1]) {
      const [fleet, lane] = [fleetAt(layout, y), laneAt(layout, y)];
      assert.deepEqual(kind === "fleet" ? [fleet, lane] : [lane, fleet], [Number(number), null], row);
    }
    top += height;
  }
  assert.equal(layout.rowsBottom, top);
});

test("a plan takes its strip from the lane's own row, so that nothing moves when it is shown", () => {
  for (const numLanes of [3, 64]) {
    const [without, withPlan] = [layoutOf(1000, numLanes, true), layoutOf(1000, numLanes, true, 0, [], true)];
    assert.equal(withPlan.height, without.height);
    const [before, after] = [spansBox(without, 1), spansBox(withPlan, 1)];
    assert.equal(after.top, before.top + withPlan.planHeight);
    assert.equal(after.top + after.height, before.top + before.height);
    assert.ok(after.height >= 7);
  }
});
