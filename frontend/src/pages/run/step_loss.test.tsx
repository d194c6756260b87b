import assert from "node:assert/strict";
import { test } from "node:test";
import { zeroConfigValues } from "../../api/schema.ts";
import { specDefaults } from "../../testing/committed.ts";
import { isInStep, lossInWords } from "./step_loss.tsx";

test("what is lost is said in lane time of a batch and as its share of training", () => {
  assert.match(
    lossInWords(1.5, 10),
    /Passes of weight 0 took 1\.5 s of 10(\.0)? s of training lane time a batch, 15\.0 %\./,
  );
});

test("ranks in step that all had work lose nothing", () => {
  assert.match(lossInWords(0, 10), /nothing is lost/);
});

test("only stages 2 and 3 keep ranks in step, with or without offloading", () => {
  const inStep = zeroConfigValues.filter((config) => isInStep({ deepspeed: { ...specDefaults().deepspeed, config } }));
  assert.deepEqual(inStep, ["zero2", "zero2_cpuoffload", "zero3", "zero3_optimizer_cpuoffload", "zero3_cpuoffload"]);
});
