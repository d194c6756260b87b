import assert from "node:assert/strict";
import { test } from "node:test";
import { plan, planChoice } from "../testing/builders.ts";
import { attributes, markup, textOf } from "../testing/markup.ts";
import { ModeTable } from "./mode_table.tsx";

const PLAN = plan({
  by_mode: {
    gap: planChoice({ num_rollout: 3, num_trainer: 1, samples_per_second: 2.5, bound_share: 0.75 }),
    colocated: planChoice({ num_rollout: 0, num_trainer: 4, samples_per_second: 1.25, bound_share: 0.375 }),
  },
});

test("each mode says its lanes, its throughput and its share of the bound", () => {
  assert.match(textOf(<ModeTable plan={PLAN} />), /Colocated all 4 1\.25 38 % .*3 \+ 1 2\.5 75 %$/i);
});

test("the chosen mode is marked, and only it", () => {
  assert.equal(markup(<ModeTable plan={PLAN} />).match(/class="chosen"/g)?.length, 1);
  assert.match(markup(<ModeTable plan={{ ...PLAN, mode: "colocated" }} />), /class="chosen"><td>[^<]*colocated/i);
});

test("a throughput that is only estimated says so", () => {
  const by_mode = { gap: planChoice({ samples_per_second: 2.5, is_simulated: false }) };
  assert.match(textOf(<ModeTable plan={{ ...PLAN, by_mode }} />), /≈ 2\.5 .*≈ estimated, not simulated/);
  assert.doesNotMatch(textOf(<ModeTable plan={PLAN} />), /≈|not simulated/);
});

test("a bar is as wide as its share", () => {
  assert.deepEqual(
    attributes(<ModeTable plan={PLAN} />, "style").map((style) => style.replace(/\s|;/g, "")),
    ["width:38%", "width:75%"],
  );
});
