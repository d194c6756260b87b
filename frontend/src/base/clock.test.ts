import assert from "node:assert/strict";
import { test } from "node:test";
import { serverNow, setServerTime } from "./clock.ts";

test("ages are counted by the server's clock, however wrong the browser's is", () => {
  setServerTime(1_000_000);
  assert.ok(Math.abs(serverNow() - 1_000_000) < 1);
  setServerTime(Date.now() / 1000 + 3600);
  assert.ok(Math.abs(serverNow() - Date.now() / 1000 - 3600) < 1);
});
