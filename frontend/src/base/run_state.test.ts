import assert from "node:assert/strict";
import { test } from "node:test";
import { runStateValues } from "../api/schema.ts";
import { hasEnded } from "./run_state.ts";

test("a run has ended in exactly the states that the contract calls ends", () => {
  const ended = runStateValues.filter((state) => hasEnded({ state }));
  assert.deepEqual([...ended].sort(), ["cancelled", "completed", "failed", "stopped"]);
});
