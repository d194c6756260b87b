import assert from "node:assert/strict";
import { test } from "node:test";
import { keySequence } from "./shortcuts.ts";

const command = (keys: string) => ({ title: keys, keys, run: () => undefined });
const pressing = (presses: readonly (readonly [string, number])[]) => {
  const pressed = keySequence([command("g r"), command("g n"), command("n"), command("?")]);
  return presses.map(([key, at]) => pressed({ key, at })?.keys);
};

test("two keys make a command, one key its own", () => {
  assert.deepEqual(
    pressing([
      ["g", 0],
      ["r", 300],
      ["?", 900],
    ]),
    [undefined, "g r", "?"],
  );
});

test("a second key has its own meaning only when it does not complete a command", () => {
  assert.deepEqual(
    pressing([
      ["g", 0],
      ["n", 10],
      ["n", 20],
    ]),
    [undefined, "g n", "n"],
  );
});

test("the first key is forgotten after a while, and after a key that means nothing", () => {
  assert.deepEqual(
    pressing([
      ["g", 0],
      ["r", 2000],
    ]),
    [undefined, undefined],
  );
  assert.deepEqual(
    pressing([
      ["g", 0],
      ["x", 10],
      ["r", 20],
    ]),
    [undefined, undefined, undefined],
  );
});
