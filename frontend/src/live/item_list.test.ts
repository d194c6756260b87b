import assert from "node:assert/strict";
import { test } from "node:test";
import { lendItem, logItem, metricsItem, phaseItem, publishItem, spansItem } from "../testing/builders.ts";
import { type EventItem, ItemList, isEvent, isLogged } from "./item_list.ts";

const numbers = (list: ItemList<EventItem>) => list.items.value.map((item) => item.stream_seq);

test("the log tells of events, records and lends, and not of what is drawn", () => {
  for (const item of [phaseItem(1), publishItem(1, 1)]) assert.ok(isEvent(item) && isLogged(item), item.type);
  for (const item of [logItem(1), lendItem(1, 1)]) assert.ok(!isEvent(item) && isLogged(item), item.type);
  for (const item of [spansItem(1, []), metricsItem(1, 1, {})]) assert.ok(!isEvent(item) && !isLogged(item), item.type);
});

test("a REST answer that reaches beyond its number is not doubled by the socket", () => {
  const list = new ItemList(isEvent);
  list.load([phaseItem(12), logItem(11), phaseItem(7)], 10);
  list.apply(phaseItem(12));
  list.apply(phaseItem(13));
  list.flush();
  assert.deepEqual(
    list.items.value.map((one) => one.stream_seq),
    [7, 12, 13],
  );
});

test("items show once a frame, when they are flushed", () => {
  const list = new ItemList(isEvent);
  list.apply(phaseItem(1));
  list.apply(phaseItem(2));
  assert.deepEqual(numbers(list), []);
  list.flush();
  assert.deepEqual(numbers(list), [1, 2]);
  const shown = list.items.value;
  list.flush();
  assert.equal(list.items.value, shown, "an empty frame redraws nothing");
});

test("reading again drops what had arrived before", () => {
  const list = new ItemList(isEvent);
  list.apply(phaseItem(1));
  list.load([phaseItem(1)], 1);
  list.flush();
  assert.deepEqual(numbers(list), [1]);
});

test("the list keeps the newest five thousand", () => {
  const list = new ItemList(isEvent);
  list.load(
    Array.from({ length: 5001 }, (_, index) => phaseItem(index + 1)),
    5001,
  );
  assert.deepEqual([numbers(list).length, numbers(list)[0]], [5000, 2]);
  list.apply(phaseItem(5002));
  list.flush();
  assert.deepEqual([numbers(list).length, numbers(list)[0], numbers(list).at(-1)], [5000, 3, 5002]);
});
