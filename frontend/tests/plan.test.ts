import assert from "node:assert/strict";
import { test } from "node:test";
import type { Plan, PlanChoice } from "../src/api/types.ts";
import { basisInWords, choiceInWords, modesInOrder } from "../src/plan/plan_words.ts";

const choice = (
  pipeline: Record<string, string | number | boolean>,
  num_rollout: number,
  num_trainer: number,
): PlanChoice => ({
  pipeline,
  num_rollout,
  num_trainer,
  fragment_size: 4,
  samples_per_second: 1,
  batch_seconds: 1,
  bound_share: 0.5,
  mean_staleness: null,
});

test("a choice is told with the switches that matter to it", () => {
  const all = { placement: "disaggregated", gap: true, tsp: true, tag: "greedy", max_staleness: 1 };
  assert.equal(
    choiceInWords(choice(all, 2, 1)),
    "disaggregated: 2 rollout lanes and 1 trainer lane, training while generating, greedy lending, the next batch begun one version early, fragments of 4",
  );
  const colocated = { placement: "colocated", gap: true, tsp: true, tag: "off", max_staleness: 0 };
  assert.equal(
    choiceInWords(choice(colocated, 0, 3)),
    "colocated: 3 lanes that all generate, then all train, denoising steps spread over trainer lanes, fragments of 4",
  );
});

test("modes come in the order of their switches, whatever order the database keeps", () => {
  const by_mode = {
    tag: choice({}, 1, 1),
    stale: choice({}, 1, 1),
    colocated: choice({}, 0, 2),
    gap: choice({}, 1, 1),
  };
  const plan = { by_mode } as unknown as Plan;
  assert.deepEqual(
    modesInOrder(plan).map(([mode]) => mode),
    ["colocated", "gap", "tag", "stale"],
  );
});

test("what a prediction rests on is told with the sizes that were measured", () => {
  const plan = { costs: "measured", num_batches_measured: 12, devices: ["cpu"] } as unknown as Plan;
  assert.equal(basisInWords(plan), "reckoned from 12 batches measured on an earlier run, on cpu");
  assert.match(
    basisInWords({ ...plan, fragment_sizes_measured: [8, 2, 4] }),
    /in fragments of 2, 4 and 8; what other sizes cost is inferred$/,
  );
  assert.match(
    basisInWords({ ...plan, num_batches_measured: 1, fragment_sizes_measured: [4] }),
    /1 batch measured .* in fragments of 4;/,
  );
  assert.match(basisInWords({ ...plan, costs: "profile" }), /nothing was measured yet$/);
});
