/** The hub's presets as a table: a row for each model, a column for each way to train it and number of GPUs. */

import type { Preset, Tuning } from "../../api/schema.ts";

export interface Column {
  readonly tuning: Tuning;
  readonly numGpus: number;
}

export interface PresetTable {
  /** LoRA first, few GPUs first. */
  readonly columns: readonly Column[];
  readonly rows: readonly { readonly model: string; readonly cells: readonly (readonly Preset[])[] }[];
}

function columnOf({ spec }: Preset): Column {
  const { num_rollout, num_trainer, num_reward, rewards_on } = spec.lanes;
  return { tuning: spec.tuning, numGpus: num_rollout + num_trainer + (rewards_on === "own_gpu" ? num_reward : 0) };
}

const same = (a: Column, b: Column) => a.tuning === b.tuning && a.numGpus === b.numGpus;

/** Models in the order of their first preset; they are named by what stands before the colon of a title. */
export function presetTable(presets: readonly Preset[]): PresetTable {
  const columns: Column[] = [];
  const models = new Map<string, Preset[]>();
  for (const preset of presets) {
    const column = columnOf(preset);
    if (!columns.some((known) => same(known, column))) columns.push(column);
    const model = preset.title.split(":")[0] ?? preset.title;
    models.set(model, [...(models.get(model) ?? []), preset]);
  }
  columns.sort((a, b) => Number(a.tuning === "full") - Number(b.tuning === "full") || a.numGpus - b.numGpus);
  const cell = (variants: readonly Preset[], column: Column) =>
    variants.filter((preset) => same(columnOf(preset), column));
  return {
    columns,
    rows: [...models].map(([model, variants]) => ({ model, cells: columns.map((column) => cell(variants, column)) })),
  };
}
