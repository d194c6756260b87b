import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { installBrowser, settled } from "../testing/browser.ts";
import { debounced, oncePerFrame } from "./frames.ts";

beforeEach(() => {
  installBrowser();
});

test("work asked for many times is done once a frame", async () => {
  let done = 0;
  const ask = oncePerFrame(() => {
    done += 1;
  });
  for (let time = 0; time < 5; time += 1) ask();
  assert.equal(done, 0);
  await settled(5);
  assert.equal(done, 1);
  ask();
  await settled(5);
  assert.equal(done, 2);
});

test("a hidden tab paints no frames, and its work is done all the same", async () => {
  Object.assign(document, { hidden: true });
  let done = 0;
  oncePerFrame(() => {
    done += 1;
  })();
  await settled(5);
  assert.equal(done, 0);
  await settled(550);
  assert.equal(done, 1);
});

test("only the last of quick calls counts", async () => {
  const seen: string[] = [];
  const type = debounced((text: string) => seen.push(text), 10);
  for (const text of ["a", "ab", "abc"]) type(text);
  await settled(30);
  type("abcd");
  await settled(30);
  assert.deepEqual(seen, ["abc", "abcd"]);
});
