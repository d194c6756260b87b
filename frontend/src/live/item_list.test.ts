import assert from "node:assert/strict";
import { test } from "node:test";
import { lendItem, logItem, metricsItem, phaseItem, publishItem, spansItem } from "../testing/builders.ts";
import { ItemList, isEvent, isLog } from "./item_list.ts";

const numbers = (list: ItemList<never> | ItemList<ReturnType<typeof logItem>>) =>
  list.items.value.map((item: { stream_seq: number }) => item.stream_seq);

test("log lines and events are told apart, and what comes in bulk is neither", () => {
  assert.ok(isLog(logItem(1)) && !isEvent(logItem(1)));
  assert.ok(isEvent(phaseItem(1)) && isEvent(publishItem(1, 1)));
  for (const item of [spansItem(1, []), metricsItem(1, 1, {}), lendItem(1, 1)]) {
    assert.ok(!isEvent(item) && !isLog(item), item.type);
  }
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
  const list = new ItemList(isLog);
  list.apply(logItem(1));
  list.apply(logItem(2));
  assert.deepEqual(numbers(list), []);
  list.flush();
  assert.deepEqual(numbers(list), [1, 2]);
  const shown = list.items.value;
  list.flush();
  assert.equal(list.items.value, shown, "an empty frame redraws nothing");
});

test("reading again drops what had arrived before", () => {
  const list = new ItemList(isLog);
  list.apply(logItem(1));
  list.load([logItem(1)], 1);
  list.flush();
  assert.deepEqual(numbers(list), [1]);
});

test("the list keeps the newest five thousand", () => {
  const list = new ItemList(isLog);
  list.load(
    Array.from({ length: 5001 }, (_, index) => logItem(index + 1)),
    5001,
  );
  assert.deepEqual([numbers(list).length, numbers(list)[0]], [5000, 2]);
  list.apply(logItem(5002));
  list.flush();
  assert.deepEqual([numbers(list).length, numbers(list)[0], numbers(list).at(-1)], [5000, 3, 5002]);
});
