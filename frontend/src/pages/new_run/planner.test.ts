import assert from "node:assert/strict";
import { test } from "node:test";
import type { PlanPreview } from "../../api/schema.ts";
import type { JsonObject } from "../../base/paths.ts";
import { plan, planChoice } from "../../testing/builders.ts";
import { estimateOf, isChosen, Planner, withChoice } from "./planner.ts";

const preview = (fields: Partial<PlanPreview> = {}): PlanPreview => ({
  ...plan(),
  fits_pool: true,
  card_bytes: {},
  price_per_hour: null,
  num_unpriced_lanes: 0,
  ...fields,
});
const settled = () => new Promise((resolve) => setTimeout(resolve, 20));

test("only the last of several specs is planned for once they are quiet", async () => {
  const asked: JsonObject[] = [];
  const planner = new Planner(async (spec) => {
    asked.push(spec);
    return preview();
  }, 5);
  planner.want({ seed: 1 });
  planner.want({ seed: 12 });
  await settled();
  assert.deepEqual(asked, [{ seed: 12 }]);
  planner.want({ seed: 12 });
  await settled();
  assert.equal(asked.length, 1, "the plan is there already");
});

test("a spec that comes while a plan is made is planned for next, never beside it", async () => {
  const answers: ((answer: PlanPreview) => void)[] = [];
  const planner = new Planner(() => new Promise((resolve) => answers.push(resolve)), 1);
  planner.want({ seed: 1 });
  await settled();
  planner.want({ seed: 2 });
  await settled();
  assert.equal(answers.length, 1);
  answers[0]?.(preview());
  await settled();
  assert.equal(answers.length, 2);
  answers[1]?.(preview());
  await settled();
  assert.deepEqual(planner.made.value?.spec, { seed: 2 });
  assert.equal(planner.asking.value, false);
});

test("a refusal takes the place of the plan before it", async () => {
  let fails = false;
  const planner = new Planner(async () => {
    if (fails) throw new Error("no lanes");
    return preview();
  }, 1);
  planner.want({ seed: 1 });
  await settled();
  fails = true;
  planner.want({ seed: 2 });
  await settled();
  assert.deepEqual([planner.made.value, planner.error.value], [null, "no lanes"]);
});

test("a choice taken is written out: switches, split, fragment, and nothing else", () => {
  const spec = { seed: 3, lanes: { num_rollout: 2, num_trainer: 2, num_reward: 1 }, batch: { group_size: 8 } };
  const choice = planChoice({ num_rollout: 3, num_trainer: 1, fragment_size: 4 });
  const made = withChoice(spec, choice);
  assert.deepEqual(made, {
    seed: 3,
    lanes: { num_rollout: 3, num_trainer: 1, num_reward: 1 },
    batch: { group_size: 8, fragment_size: 4 },
    pipeline: choice.pipeline,
  });
  assert.deepEqual([isChosen(spec, choice), isChosen(made, choice)], [false, true]);
});

test("the cost is the price of the lanes for the seconds of all batches", () => {
  const spec = { num_batches: 60 };
  const choice = planChoice({ batch_seconds: 120 });
  assert.equal(estimateOf({ spec, plan: preview({ price_per_hour: 10 }) }, choice).cost, 20);
  assert.equal(estimateOf({ spec, plan: preview() }, choice).cost, null);
  assert.equal(estimateOf({ spec, plan: preview() }, choice).runSeconds, 7200);
});

test("a question is asked again when its answer may have changed, and not while another is wanted", async () => {
  const asked: JsonObject[] = [];
  const planner = new Planner(async (spec) => {
    asked.push(spec);
    return preview();
  }, 5);
  planner.again();
  planner.want({ seed: 1 });
  await settled();
  planner.again();
  await settled();
  assert.deepEqual(asked, [{ seed: 1 }, { seed: 1 }]);
  planner.want({ seed: 2 });
  planner.again();
  await settled();
  assert.deepEqual(asked.slice(2), [{ seed: 2 }]);
});
