import assert from "node:assert/strict";
import { test } from "node:test";
import type { Preset } from "../src/api/types.ts";
import { presetTable } from "../src/pages/new_run/preset_table.ts";

const preset = (title: string, tuning: string | undefined, num_rollout: number, num_trainer: number): Preset => ({
  name: title,
  title,
  description: "",
  spec: { ...(tuning ? { tuning } : {}), lanes: { num_rollout, num_trainer } },
});

test("a model is a row; LoRA stands before full, few GPUs before many, gaps stay empty", () => {
  const presets = [
    preset("A: full, 8", "full", 4, 4),
    preset("A: LoRA, 8", undefined, 4, 4),
    preset("A: LoRA, 1", "lora", 0, 1),
    preset("B: LoRA, 8", "lora", 6, 2),
  ];
  const { columns, rows } = presetTable(presets);
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

test("reward lanes on GPUs count as GPUs", () => {
  const lanes = { num_rollout: 3, num_trainer: 4, num_reward: 1 };
  const withScorers = (on: boolean) =>
    presetTable([{ ...preset("A: LoRA", "lora", 0, 0), spec: { lanes: { ...lanes, rewards_on_gpus: on } } }]).columns[0]
      ?.numGpus;
  assert.deepEqual([withScorers(false), withScorers(true)], [7, 8]);
});

test("no preset is lost where two stand in one place", () => {
  const { rows } = presetTable([preset("A: LoRA, 2", "lora", 1, 1), preset("A: LoRA, 2, fast", "lora", 0, 2)]);
  assert.deepEqual(
    rows[0]?.cells.map((cell) => cell.length),
    [2],
  );
});
