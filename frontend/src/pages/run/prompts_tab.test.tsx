import assert from "node:assert/strict";
import { test } from "node:test";
import { markup } from "../../testing/markup.ts";
import { Visits } from "./prompts_tab.tsx";

const visit = (batch: number, mean_reward: number | null, has_spread = true) => ({
  batch,
  mean_reward,
  reward_std: has_spread ? 0.1 : 0,
  has_spread,
});

test("a bar is as high as its group's reward within the range of the page, and hollow without spread", () => {
  const drawn = markup(<Visits visits={[visit(1, 0.5), visit(2, 1, false), visit(3, null)]} low={0} high={1} />);
  assert.match(drawn, /aria-label="3 groups, 1 of them without spread"/);
  assert.deepEqual(
    [...drawn.matchAll(/class="(varied|flat)" x="(\d+)" y="(\d+)" width="3" height="(\d+)"/g)].map((one) =>
      one.slice(1),
    ),
    [
      ["varied", "0", "12", "12"],
      ["flat", "4", "0", "24"],
      ["varied", "8", "23", "1"],
    ],
  );
  assert.match(drawn, /Batch 2: 1 ± 0, without spread/);
});

test("equal rewards draw bars of the least height", () => {
  const drawn = markup(<Visits visits={[visit(1, 0), visit(2, 0)]} low={0} high={0} />);
  assert.deepEqual(
    [...drawn.matchAll(/height="(\d+)">/g)].map((one) => one[1]),
    ["1", "1"],
  );
});
