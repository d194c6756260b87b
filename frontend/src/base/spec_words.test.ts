import assert from "node:assert/strict";
import { test } from "node:test";
import { inWords } from "./spec_words.ts";

test("nothing is a dash, an empty list is none", () => {
  assert.deepEqual([null, "", []].map(inWords), ["–", "–", "none"]);
});

test("plain values stand as they are", () => {
  assert.deepEqual([true, 0, "flux", ["to_q", "to_k"]].map(inWords), ["true", "0", "flux", "to_q, to_k"]);
});

test("rewards are written with their weight, watched ones as such", () => {
  const rewards = [
    { name: "shape_match", weight: 2 },
    { name: "remote", label: "faces", watched: true },
    { name: "ocr" },
  ];
  assert.equal(inWords(rewards), "shape_match × 2, faces (monitored), ocr × 1");
});

test("a section is written as JSON, for want of words", () => {
  assert.equal(inWords({ rank: 4 }), '{"rank":4}');
  assert.equal(inWords([{ url: "x" }]), '{"url":"x"}');
});
