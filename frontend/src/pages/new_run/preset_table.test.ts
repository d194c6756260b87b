import assert from "node:assert/strict";
import { test } from "node:test";
import type { Preset, RunSpec } from "../../api/schema.ts";
import { spec } from "../../testing/builders.ts";
import { presetTable } from "./preset_table.ts";

type Lanes = RunSpec["lanes"];

function preset(title: string, tuning: RunSpec["tuning"], lanes: Partial<Lanes>): Preset {
  const base = spec();
  return { name: title, title, description: "", spec: { ...base, tuning, lanes: { ...base.lanes, ...lanes } } };
}

const LANES = { num_rollout: 4, num_trainer: 4 };

test("a model is a row; LoRA stands before full, few GPUs before many, gaps stay empty", () => {
  const { columns, rows } = presetTable([
    preset("A: full, 8", "full", LANES),
    preset("A: LoRA, 8", "lora", LANES),
    preset("A: LoRA, 1", "lora", { num_rollout: 0, num_trainer: 1 }),
    preset("B: LoRA, 8", "lora", { num_rollout: 6, num_trainer: 2 }),
  ]);
  assert.deepEqual(columns, [
    { tuning: "lora", numGpus: 1 },
    { tuning: "lora", numGpus: 8 },
    { tuning: "full", numGpus: 8 },
  ]);
  assert.deepEqual(
    rows.map(({ model, cells }) => [model, ...cells.map((cell) => cell.map((one) => one.title).join())]),
    [
      ["A", "A: LoRA, 1", "A: LoRA, 8", "A: full, 8"],
      ["B", "", "B: LoRA, 8", ""],
    ],
  );
});

test("reward lanes on GPUs of their own count as GPUs, and those that share one do not", () => {
  const withScorers = (rewards_on: RunSpec["lanes"]["rewards_on"]) =>
    presetTable([preset("A: LoRA", "lora", { num_rollout: 3, num_trainer: 4, num_reward: 1, rewards_on })]).columns[0]
      ?.numGpus;
  assert.deepEqual((["cpu", "auto", "shared_gpu", "own_gpu"] as const).map(withScorers), [7, 7, 7, 8]);
});

test("no preset is lost where two stand in one place", () => {
  const { rows } = presetTable([
    preset("A: LoRA, 2", "lora", { num_rollout: 1, num_trainer: 1 }),
    preset("A: LoRA, 2, fast", "lora", { num_rollout: 0, num_trainer: 2 }),
  ]);
  assert.deepEqual(
    rows[0]?.cells.map((cell) => cell.length),
    [2],
  );
});
