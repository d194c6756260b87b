import assert from "node:assert/strict";
import { test } from "node:test";
import type { Plan } from "../api/schema.ts";
import { plan, planChoice } from "../testing/builders.ts";
import { basisInWords, choiceInWords, modeLabel, modesInOrder } from "./plan_words.ts";

const PLAN = plan();
const { pipeline } = planChoice();

test("a choice is described with the switches that matter to it", () => {
  const all = { ...pipeline, gap: true, tsp: true, tag: "greedy", max_staleness: 1 } as const;
  assert.equal(
    choiceInWords(planChoice({ pipeline: all, num_rollout: 2, num_trainer: 1 })),
    "disaggregated: 2 rollout lanes and 1 trainer lane, training while generating, greedy lending, the next batch begun one version early, fragments of 4",
  );
  const colocated = { ...pipeline, placement: "colocated", gap: true, tsp: true } as const;
  assert.equal(
    choiceInWords(planChoice({ pipeline: colocated, num_rollout: 0, num_trainer: 3 })),
    "colocated: 3 lanes that each generate, then train, denoising steps spread over trainer lanes, fragments of 4",
  );
});

test("a choice without switches says its lanes and fragments alone", () => {
  assert.equal(
    choiceInWords(planChoice({ num_rollout: 1, num_trainer: 2, fragment_size: 8 })),
    "disaggregated: 1 rollout lane and 2 trainer lanes, fragments of 8",
  );
});

test("modes come in the order of their switches, whatever order the database keeps", () => {
  const by_mode = { tag: planChoice(), stale: planChoice(), colocated: planChoice(), gap: planChoice() };
  assert.deepEqual(
    modesInOrder({ ...PLAN, by_mode }).map(([mode]) => mode),
    ["colocated", "gap", "tag", "stale"],
  );
});

test("a mode that is not known is called by its own name", () => {
  assert.deepEqual(["tag", "new_mode"].map(modeLabel), ["+ lending", "new_mode"]);
});

test("a prediction says how much was measured, and with fragments of which sizes", () => {
  assert.equal(basisInWords(PLAN), "predicted from 12 batches measured on an earlier run, on cpu");
  assert.match(
    basisInWords({ ...PLAN, fragment_sizes_measured: [8, 2, 4] }),
    /in fragments of 2, 4 and 8; what other sizes cost is inferred$/,
  );
  assert.match(
    basisInWords({ ...PLAN, num_batches_measured: 1, fragment_sizes_measured: [4] }),
    /1 batch measured .* in fragments of 4;/,
  );
});

test("a prediction from the run's own costs says that this run has measured them", () => {
  assert.equal(basisInWords({ ...PLAN, costs: "own" }), "predicted from 12 batches that this run has measured, on cpu");
});

test("a prediction from profiles that other GPUs have corrected says so", () => {
  assert.equal(
    basisInWords({ ...PLAN, costs: "corrected" }),
    "predicted from the documented profiles, corrected by 12 batches measured on other kinds of GPU, on cpu",
  );
});

test("a prediction from a profile says whose, and that nothing was measured", () => {
  const profile: Plan = { ...PLAN, costs: "profile" };
  assert.match(basisInWords(profile), /profile of the model, on cpu; nothing was measured yet$/);
  assert.match(basisInWords({ ...profile, stand_in_profile: "flux.1-12b" }), /flux\.1-12b, the usual size/);
  assert.match(basisInWords({ ...profile, devices: [] }), /on devices without a name/);
});
