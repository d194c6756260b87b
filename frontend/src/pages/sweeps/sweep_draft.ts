/** A sweep as its form edits it: texts as they were typed, which become a plan that the server judges. */

import type { SweepPlan } from "../../api/schema.ts";
import { getPath, isObject, type Json, type JsonObject, leaves } from "../../base/paths.ts";

export type RangeKind = "choice" | "uniform" | "log_uniform" | "int";

export interface RangeDraft {
  /** Tells rows apart while they are edited. */
  readonly id: number;
  readonly field: string;
  readonly kind: RangeKind;
  /** Of `choice`, separated by commas. */
  readonly values: string;
  readonly low: string;
  readonly high: string;
  /** Values that a grid takes of a range of numbers. */
  readonly numValues: string;
  readonly step: string;
}

export interface SweepDraft {
  readonly name: string;
  readonly spec: JsonObject;
  readonly ranges: readonly RangeDraft[];
  readonly sampler: SweepPlan["sampler"]["kind"];
  readonly numPoints: string;
  readonly samplerSeed: string;
  readonly numSeeds: string;
  readonly maxParallelRuns: string;
  readonly budget: string;
  readonly pruner: SweepPlan["pruner"]["kind"];
  readonly minSamples: string;
  readonly reductionFactor: string;
  readonly metric: string;
  readonly maximise: boolean;
}

let lastId = 0;

export function newRange(field = ""): RangeDraft {
  return { id: ++lastId, field, kind: "choice", values: "", low: "", high: "", numValues: "4", step: "1" };
}

const LEARNING_RATE = "optimizer.learning_rate";

/** A draft from a run: its learning rate around the one that it had, which matters in every run. */
export function draftOf(name: string, spec: JsonObject): SweepDraft {
  const rate = getPath(spec, LEARNING_RATE);
  const around = typeof rate === "number" ? { low: String(rate / 4), high: String(rate * 4) } : {};
  return {
    name,
    spec,
    ranges: [{ ...newRange(LEARNING_RATE), kind: "log_uniform", ...around }],
    sampler: "grid",
    numPoints: "12",
    samplerSeed: "0",
    numSeeds: "1",
    maxParallelRuns: "4",
    budget: "",
    pruner: "none",
    minSamples: "",
    reductionFactor: "3",
    metric: "eval/reward",
    maximise: true,
  };
}

/** The draft of a plan that the server has read, such as an uploaded file's. */
export function draftOfPlan(plan: SweepPlan): SweepDraft {
  const text = (value: number | null) => (value === null ? "" : String(value));
  return {
    ...draftOf(plan.name, plan.spec as JsonObject),
    ranges: Object.entries(plan.space).map(([field, range]) => rangeOf(field, range)),
    sampler: plan.sampler.kind,
    numPoints: text(plan.sampler.num_points ?? null) || "12",
    samplerSeed: text(plan.sampler.seed ?? 0),
    numSeeds: text(plan.num_seeds),
    maxParallelRuns: text(plan.max_parallel_runs),
    budget: text(plan.budget_gpu_hours),
    pruner: plan.pruner.kind,
    minSamples: text(plan.pruner.min_samples ?? null),
    reductionFactor: text(plan.pruner.reduction_factor ?? 3),
    metric: plan.objective.metric,
    maximise: plan.objective.maximise,
  };
}

function rangeOf(field: string, range: SweepPlan["space"][string]): RangeDraft {
  const blank = { ...newRange(field), kind: range.kind };
  if (range.kind === "choice") {
    const written = range.values.map((value) => (typeof value === "string" ? value : JSON.stringify(value)));
    return { ...blank, values: written.join(", ") };
  }
  const ends = { low: String(range.low), high: String(range.high) };
  if (range.kind === "int") return { ...blank, ...ends, step: String(range.step ?? 1) };
  return { ...blank, ...ends, numValues: String(range.num_values ?? 4) };
}

/** The document that is sent; what was left empty is left out. */
export function planOf(draft: SweepDraft): JsonObject {
  const isRandom = draft.sampler === "random";
  const isPruned = draft.pruner !== "none";
  return {
    name: draft.name,
    spec: draft.spec,
    space: Object.fromEntries(draft.ranges.map((range) => [range.field.trim(), rangePlan(range, isRandom)])),
    sampler: without({
      kind: draft.sampler,
      num_points: isRandom ? typed(draft.numPoints) : undefined,
      seed: isRandom ? typed(draft.samplerSeed) : undefined,
    }),
    pruner: without({
      kind: draft.pruner,
      min_samples: isPruned ? typed(draft.minSamples) : undefined,
      reduction_factor: isPruned ? typed(draft.reductionFactor) : undefined,
    }),
    objective: { metric: draft.metric, maximise: draft.maximise },
    ...without({
      num_seeds: typed(draft.numSeeds),
      max_parallel_runs: typed(draft.maxParallelRuns),
      budget_gpu_hours: typed(draft.budget),
    }),
  };
}

function rangePlan(range: RangeDraft, isRandom: boolean): JsonObject {
  const { kind } = range;
  if (kind === "choice") return { kind, values: listed(range.values) };
  const ends = { kind, low: typed(range.low), high: typed(range.high) };
  if (kind === "int") return without({ ...ends, step: typed(range.step) });
  return without({ ...ends, num_values: isRandom ? undefined : typed(range.numValues) });
}

/** `8, 16` as numbers, `zero1, zero2` as texts, `[1, 2], [3]` as lists: JSON where it is some, else text. */
export function listed(text: string): readonly Json[] {
  if (text.trim() === "") return [];
  const whole = parsed(`[${text}]`);
  if (Array.isArray(whole)) return whole;
  return text
    .split(",")
    .map((part) => part.trim())
    .filter(Boolean)
    .map((part) => parsed(part) ?? part);
}

/** A number where one was typed; any other text as it is, for the server to refuse in words. */
function typed(text: string): Json | undefined {
  const trimmed = text.trim();
  if (trimmed === "") return undefined;
  const value = Number(trimmed);
  return Number.isFinite(value) ? value : trimmed;
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

function without(values: { readonly [key: string]: Json | undefined }): JsonObject {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as JsonObject;
}

/** The settings that can be swept, by dotted path: all of the spec but its seed and its prompts, rewards by place. */
export function sweepable(spec: JsonObject): readonly string[] {
  const { seed: _seed, prompts: _prompts, rewards, ...others } = spec;
  const ofRewards = (Array.isArray(rewards) ? rewards : []).flatMap((reward, place) =>
    isObject(reward) ? [...leaves(reward).keys()].map((path) => `rewards.${place}.${path}`) : [],
  );
  return [...leaves(others).keys(), ...ofRewards].sort();
}

/** The curves that points can be compared by. */
export function objectives(spec: JsonObject): readonly string[] {
  const rewards = Array.isArray(spec.rewards) ? spec.rewards : [];
  const keys = rewards.flatMap((reward) => (isObject(reward) ? [String(reward.label || reward.name)] : []));
  return ["eval/reward", "reward/mean", ...keys.map((key) => `eval/part/${key}`)];
}
