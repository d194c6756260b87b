import assert from "node:assert/strict";
import { test } from "node:test";
import { publicFile } from "../testing/committed.ts";
import { ICON_NAMES } from "./icon.tsx";

test("every icon has a drawing, and every drawing a name", () => {
  const drawn = [...publicFile("icons.svg").matchAll(/<symbol id="([\w-]+)"/g)].map(([, id]) => id);
  assert.deepEqual(drawn, [...ICON_NAMES]);
});
