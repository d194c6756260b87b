import assert from "node:assert/strict";
import { test } from "node:test";
import type { Sample } from "../src/api/types.ts";
import { alignedByPrompt } from "../src/pages/aligned_samples.ts";

const sample = (prompt: string, member: number) => ({ prompt, member }) as unknown as Sample;

test("runs stand side by side prompt by prompt, those that all have first, members in order", () => {
  const rows = alignedByPrompt([[sample("only here", 0), sample("both", 1), sample("both", 0)], [sample("both", 0)]]);
  assert.deepEqual(
    rows.map(([prompt, cells]) => [prompt, cells.map((cell) => cell.map((one) => one.member))]),
    [
      ["both", [[0, 1], [0]]],
      ["only here", [[0], []]],
    ],
  );
});
