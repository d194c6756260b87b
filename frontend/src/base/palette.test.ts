import assert from "node:assert/strict";
import { test } from "node:test";
import { faded } from "./palette.ts";

test("a colour becomes see-through, whatever form the browser computed it in", () => {
  assert.equal(faded("rgb(12, 34, 56)", 0.5), "rgb(12 34 56 / 0.5)");
  assert.equal(faded("rgba(12, 34, 56, 0.9)", 0.2), "rgb(12 34 56 / 0.2)");
  assert.equal(faded("", 1), "rgb(0 0 0 / 1)");
});
