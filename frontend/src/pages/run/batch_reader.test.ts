import assert from "node:assert/strict";
import { test } from "node:test";
import type { Samples } from "../../api/schema.ts";
import { BatchReader, MAX_KEPT } from "./batch_reader.ts";

/** A server that answers when it is told to. */
function server() {
  const asked: (number | undefined)[] = [];
  const waiting: (() => void)[] = [];
  const reader = new BatchReader((batch) => {
    asked.push(batch);
    return new Promise((resolve, reject) => {
      const answer: Samples = { batches: [batch ?? 0], groups: [], results: [] };
      waiting.push(() => (batch === 13 ? reject(new Error("gone")) : resolve(answer)));
    });
  });
  const shown = () => reader.shown.value?.batches;
  const answer = async () => {
    waiting.shift()?.();
    await new Promise(setImmediate);
  };
  return { asked, answer, reader, shown };
}

test("of many batches asked for while one is read, only the last is read", async () => {
  const { asked, answer, reader, shown } = server();
  for (let batch = 1; batch <= 50; batch++) reader.show(batch);
  await answer();
  assert.equal(shown(), undefined);
  await answer();
  assert.deepEqual(asked, [1, 50]);
  assert.deepEqual(shown(), [50]);
});

test("a batch that was read is shown again without a request, until the run reports more", async () => {
  const { asked, answer, reader, shown } = server();
  for (const batch of [1, 2]) {
    reader.show(batch);
    await answer();
  }
  reader.show(1);
  assert.deepEqual([asked, shown()], [[1, 2], [1]]);
  reader.refresh();
  await answer();
  assert.deepEqual(asked, [1, 2, 1]);
});

test("only the batches read last are kept", async () => {
  const { asked, answer, reader } = server();
  for (let batch = 100; batch <= 100 + MAX_KEPT; batch++) {
    reader.show(batch);
    await answer();
  }
  reader.show(101);
  assert.equal(asked.length, MAX_KEPT + 1);
  reader.show(100);
  await answer();
  assert.equal(asked.at(-1), 100);
});

test("a read that failed says so, and the next one that succeeds takes it back", async () => {
  const { answer, reader } = server();
  reader.show(13);
  await answer();
  assert.equal(reader.error.value, "gone");
  reader.show(14);
  await answer();
  assert.equal(reader.error.value, null);
});
