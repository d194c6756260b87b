/** Keeps a plan for the spec in the form: asks when the spec is valid and has been quiet for a while, one request at a time
 * since planning may take seconds, and drops an answer that a later question has overtaken. */

import { signal } from "@preact/signals";
import { messageOf } from "../../api/client.ts";
import type { PlanChoice, PlanPreview } from "../../api/schema.ts";
import { debounced } from "../../base/frames.ts";
import { getPath, type Json, type JsonObject, sameJson, setPath } from "../../base/paths.ts";

/** Longer than between two keys, so that a number is planned for once it is typed. */
const QUIET_MILLISECONDS = 700;

export interface Made {
  readonly spec: JsonObject;
  readonly plan: PlanPreview;
}

export class Planner {
  readonly made = signal<Made | null>(null);
  readonly asking = signal(false);
  readonly error = signal<string | null>(null);
  private wanted: JsonObject | null = null;
  private readonly later: (spec: JsonObject) => void;

  constructor(
    private readonly planFor: (spec: JsonObject) => Promise<PlanPreview>,
    quiet = QUIET_MILLISECONDS,
  ) {
    this.later = debounced((spec) => {
      if (sameJson(spec, this.wanted ?? undefined)) void this.next();
    }, quiet);
  }

  /** Ask for a plan of a valid spec. */
  want(spec: JsonObject): void {
    if (sameJson(spec, this.wanted ?? this.made.peek()?.spec)) return;
    this.wanted = spec;
    this.later(spec);
  }

  private async next(): Promise<void> {
    if (this.asking.peek()) return;
    this.asking.value = true;
    while (this.wanted !== null) {
      const spec: JsonObject = this.wanted;
      try {
        const plan = await this.planFor(spec);
        this.made.value = { spec, plan };
        this.error.value = null;
      } catch (failure) {
        this.made.value = null;
        this.error.value = messageOf(failure);
      }
      if (sameJson(spec, this.wanted)) this.wanted = null;
    }
    this.asking.value = false;
  }
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
