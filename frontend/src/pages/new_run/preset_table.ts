/** The hub's presets as a table: a row for each model, a column for each way to train it and number of GPUs. */

import type { Preset } from "../../api/types.ts";
import { getPath } from "../../base/paths.ts";

export type Tuning = "lora" | "full";

export interface Column {
  readonly tuning: Tuning;
  readonly numGpus: number;
}

export interface PresetTable {
  /** LoRA first, few GPUs first. */
  readonly columns: readonly Column[];
  readonly rows: readonly { readonly model: string; readonly cells: readonly (readonly Preset[])[] }[];
}

const numberAt = (preset: Preset, path: string) => Number(getPath(preset.spec, path) ?? 0);

const scorersOnGpus = (preset: Preset) =>
  getPath(preset.spec, "lanes.rewards_on_gpus") === true ? numberAt(preset, "lanes.num_reward") : 0;

function columnOf(preset: Preset): Column {
  return {
    tuning: getPath(preset.spec, "tuning") === "full" ? "full" : "lora",
    numGpus: numberAt(preset, "lanes.num_rollout") + numberAt(preset, "lanes.num_trainer") + scorersOnGpus(preset),
  };
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
