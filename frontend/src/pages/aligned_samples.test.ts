import assert from "node:assert/strict";
import { test } from "node:test";
import { sample } from "../testing/builders.ts";
import { alignedByPrompt } from "./aligned_samples.ts";

test("runs stand side by side prompt by prompt, those that all have first, members in order", () => {
  const [first, second] = [
    [sample({ prompt: "only here" }), sample({ prompt: "both", member: 1 }), sample({ prompt: "both" })],
    [sample({ prompt: "both" })],
  ];
  assert.deepEqual(
    alignedByPrompt([first, second]).map(([prompt, cells]) => [
      prompt,
      cells.map((cell) => cell.map((one) => one.member)),
    ]),
    [
      ["both", [[0, 1], [0]]],
      ["only here", [[0], []]],
    ],
  );
});

test("prompts that lack as many runs keep their order", () => {
  const rows = alignedByPrompt([[sample({ prompt: "b" }), sample({ prompt: "a" })], [sample({ prompt: "c" })]]);
  assert.deepEqual(
    rows.map(([prompt]) => prompt),
    ["b", "a", "c"],
  );
});

test("without samples there are no rows", () => {
  assert.deepEqual(alignedByPrompt([[], []]), []);
});
