import assert from "node:assert/strict";
import { test } from "node:test";
import {
  laneStartItem,
  lendItem,
  logItem,
  metricsItem,
  phaseItem,
  publishItem,
  spansItem,
} from "../testing/builders.ts";
import { ItemList, isForPanels, isLogged, type PanelItem } from "./item_list.ts";

const numbers = (list: ItemList<PanelItem>) => list.items.value.map((item) => item.stream_seq);

test("the log tells of events, records and lends, and not of what is drawn", () => {
  for (const item of [phaseItem(1), publishItem(1, 1), logItem(1), lendItem(1, 1)])
    assert.ok(isLogged(item), item.type);
  for (const item of [spansItem(1, []), metricsItem(1, 1, {})]) assert.ok(!isLogged(item), item.type);
});

test("what a panel looks for is kept, and nothing that comes with every batch", () => {
  const list = new ItemList(isForPanels);
  for (const item of [laneStartItem(1), phaseItem(2), publishItem(3, 1), metricsItem(4, 1, {})]) list.apply(item);
  list.flush();
  assert.deepEqual(numbers(list), [1]);
});

test("a REST answer that reaches beyond its number is not doubled by the socket", () => {
  const list = new ItemList(isForPanels);
  list.load([laneStartItem(12), logItem(11), laneStartItem(7)], 10);
  list.apply(laneStartItem(12));
  list.apply(laneStartItem(13));
  list.flush();
  assert.deepEqual(
    list.items.value.map((one) => one.stream_seq),
    [7, 12, 13],
  );
});

test("items show once a frame, when they are flushed", () => {
  const list = new ItemList(isForPanels);
  list.apply(laneStartItem(1));
  list.apply(laneStartItem(2));
  assert.deepEqual(numbers(list), []);
  list.flush();
  assert.deepEqual(numbers(list), [1, 2]);
  const shown = list.items.value;
  list.flush();
  assert.equal(list.items.value, shown, "an empty frame redraws nothing");
});

test("reading again drops what had arrived before", () => {
  const list = new ItemList(isForPanels);
  list.apply(laneStartItem(1));
  list.load([laneStartItem(1)], 1);
  list.flush();
  assert.deepEqual(numbers(list), [1]);
});

test("the list keeps the newest five thousand", () => {
  const list = new ItemList(isForPanels);
  list.load(
    Array.from({ length: 5001 }, (_, index) => laneStartItem(index + 1)),
    5001,
  );
  assert.deepEqual([numbers(list).length, numbers(list)[0]], [5000, 2]);
  list.apply(laneStartItem(5002));
  list.flush();
  assert.deepEqual([numbers(list).length, numbers(list)[0], numbers(list).at(-1)], [5000, 3, 5002]);
});
