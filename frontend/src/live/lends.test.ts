import assert from "node:assert/strict";
import { test } from "node:test";
import { lendItem } from "../testing/builders.ts";
import { decisionBehind, lendOf, withLend } from "./lends.ts";

const after = (...items: ReturnType<typeof lendItem>[]) =>
  items.map(lendOf).reduce<ReturnType<typeof withLend>>((known, one) => withLend(known, one), []);

test("a decision is made by one item and settled by a second one", () => {
  const lends = after(
    lendItem(1, 1, { predicted: 2 }),
    lendItem(2, 2, { predicted: 1 }),
    lendItem(3, 1, { predicted: 2, realised: 1.5 }),
  );
  assert.deepEqual(
    lends.map((one) => [one.decision, one.at, one.settled_at, one.realised_gain_seconds]),
    [
      [1, 1, 3, 1.5],
      [2, 2, null, null],
    ],
  );
});

test("a settled decision keeps what was predicted when it was made", () => {
  const [decision] = after(lendItem(1, 1, { predicted: 2 }), lendItem(5, 1, { predicted: 9, realised: 0 }));
  assert.deepEqual([decision?.predicted_gain_seconds, decision?.realised_gain_seconds], [2, 0]);
});

test("decisions that a driver counts anew after its checkpoint are new ones", () => {
  assert.equal(after(lendItem(1, 1), lendItem(2, 1)).length, 2);
});

test("what settles a decision of another attempt is not mixed up with this one", () => {
  const lends = withLend(after(lendItem(1, 1)), { ...lendOf(lendItem(2, 1, { realised: 1 })), attempt: 2 });
  assert.equal(lends.length, 2);
  assert.equal(lends[0]?.settled_at, null);
});

test("a lent span belongs to the newest decision for its lane", () => {
  const lends = after(lendItem(1, 1), lendItem(5, 2));
  assert.equal(decisionBehind(lends, "trainer-0", 4)?.decision, 1);
  assert.equal(decisionBehind(lends, "trainer-0", 5)?.decision, 2);
  assert.equal(decisionBehind(lends, "trainer-1", 9), undefined);
  assert.equal(decisionBehind(lends, "trainer-0", 0), undefined);
});
