import assert from "node:assert/strict";
import { test } from "node:test";
import { matching, PAGE_COMMANDS, VIEW_COMMANDS } from "./commands.ts";

const found = (typed: string) => matching([...PAGE_COMMANDS, ...VIEW_COMMANDS], typed).map(({ title }) => title);

test("commands are found by the beginnings of their words, in any order and case", () => {
  assert.deepEqual(found("RUN n"), ["New run"]);
  assert.deepEqual(found("dark"), ["Change the theme"]);
  assert.deepEqual(found("xylophone"), []);
});

test("nothing typed finds all", () => {
  assert.equal(found(" ").length, PAGE_COMMANDS.length + VIEW_COMMANDS.length);
});

test("no two commands have the same keys, and none is the beginning of another", () => {
  const keys = [...PAGE_COMMANDS, ...VIEW_COMMANDS].flatMap((command) => command.keys ?? []);
  for (const one of keys) {
    assert.equal(keys.filter((other) => other === one || other.startsWith(`${one} `)).length, 1, one);
  }
});
