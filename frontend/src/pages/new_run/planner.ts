/** The plan for the spec in the form, and what follows from it: the choice written out, time and cost of the run. */

import { computed } from "@preact/signals";
import type { PlanChoice, PlanPreview } from "../../api/schema.ts";
import { getPath, type Json, type JsonObject, sameJson, setPath } from "../../base/paths.ts";
import { KeptAnswer } from "./kept_answer.ts";

export interface Made {
  readonly spec: JsonObject;
  readonly plan: PlanPreview;
}

export class Planner extends KeptAnswer<PlanPreview> {
  readonly made = computed((): Made | null => {
    const { question: spec, answer: plan } = this.kept.value ?? {};
    return spec && plan ? { spec, plan } : null;
  });
}

/** `spec` with a choice of its plan written out: placement and switches, split, size of fragment. */
export function withChoice(spec: JsonObject, choice: PlanChoice): JsonObject {
  const written: readonly [string, Json][] = [
    ["pipeline", choice.pipeline as JsonObject],
    ["lanes.num_rollout", choice.num_rollout],
    ["lanes.num_trainer", choice.num_trainer],
    ["batch.fragment_size", choice.fragment_size],
  ];
  return written.reduce((made, [path, value]) => setPath(made, path, value), spec);
}

/** Whether the spec says what the choice does. */
export function isChosen(spec: JsonObject, choice: PlanChoice): boolean {
  return sameJson(spec, withChoice(spec, choice));
}

export interface Estimate {
  readonly samplesPerSecond: number;
  readonly batchSeconds: number;
  /** Seconds of all batches, without start-up, evaluations and checkpoints. */
  readonly runSeconds: number;
  /** In the currency of the pool's prices; null where none of the lanes has a price. */
  readonly cost: number | null;
}

/** What the run would take and cost by a choice. */
export function estimateOf({ spec, plan }: Made, choice: PlanChoice): Estimate {
  const runSeconds = choice.batch_seconds * Number(getPath(spec, "num_batches") ?? 0);
  return {
    samplesPerSecond: choice.samples_per_second,
    batchSeconds: choice.batch_seconds,
    runSeconds,
    cost: plan.price_per_hour === null ? null : (plan.price_per_hour * runSeconds) / 3600,
  };
}
