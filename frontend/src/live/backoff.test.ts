import assert from "node:assert/strict";
import { test } from "node:test";
import { reconnectDelay } from "./backoff.ts";

test("reconnecting backs off by doubling, to a bound", () => {
  assert.deepEqual(
    [0, 1, 2, 3].map((failures) => reconnectDelay(failures, 0)),
    [300, 600, 1200, 2400],
  );
  assert.ok(reconnectDelay(50, 0.999) <= 15_000);
  assert.equal(reconnectDelay(50, 0), reconnectDelay(10, 0));
});

test("delays are spread, so that browsers do not return all at once", () => {
  assert.equal(reconnectDelay(0, 0), 300);
  assert.equal(reconnectDelay(0, 0.5), 350);
  assert.ok(reconnectDelay(4, 0) < reconnectDelay(4, 0.9));
});
