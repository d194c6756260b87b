/** Runs that differ only in their seed, and whether groups of them differ by more than their seeds do. Pure. */

import { differences, isObject, type JsonObject } from "../../base/paths.ts";
import type { ComparedRun } from "./compared_run.ts";

export interface SeedGroup {
  readonly runs: readonly ComparedRun[];
  readonly name: string;
  /** Custom property of its first run's colour. */
  readonly colour: string;
}

/** Groups in the order of their first runs. */
export function seedGroups(runs: readonly ComparedRun[]): SeedGroup[] {
  const groups: { spec: JsonObject; runs: ComparedRun[] }[] = [];
  for (const compared of runs) {
    const { seed: _seed, ...spec } = asJson(compared);
    const group = groups.find((one) => differences([one.spec, spec]).length === 0);
    if (group) group.runs.push(compared);
    else groups.push({ spec, runs: [compared] });
  }
  return groups.map((group) => ({
    runs: group.runs,
    name: nameOf(group.runs),
    colour: group.runs[0]?.colour ?? "--series-1",
  }));
}

function asJson({ run }: ComparedRun): JsonObject {
  return isObject(run.spec) ? run.spec : {};
}

function nameOf(runs: readonly ComparedRun[]): string {
  const name = runs[0]?.run.name ?? "";
  return runs.length > 1 ? `${name} + ${runs.length - 1} seed${runs.length > 2 ? "s" : ""}` : name;
}

export interface Summary {
  readonly values: readonly number[];
  readonly mean: number;
  /** Standard deviation over the seeds; null with one seed. */
  readonly spread: number | null;
}

/** Null where no run has a value. */
export function summaryOf(found: readonly (number | null)[]): Summary | null {
  const values = found.filter((value): value is number => value !== null && Number.isFinite(value));
  if (values.length === 0) return null;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return { values, mean, spread: values.length > 1 ? Math.sqrt(squares(values, mean) / (values.length - 1)) : null };
}

const squares = (values: readonly number[], mean: number) => values.reduce((sum, one) => sum + (one - mean) ** 2, 0);

export interface Difference {
  readonly value: number;
  /** Differences up to this are within the noise of seeds, at 95 %; null where neither side has two seeds. */
  readonly noise: number | null;
}

/** Two-sided 95 % quantiles of Student's t with 1, 2, … degrees of freedom; eight runs leave six at most. */
const T_QUANTILES = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447];

/** `one` − `other`, with the half-width of the 95 % interval of Student's two-sample t-test with pooled variance: the
 * seeds of both sides tell how far seeds scatter, so one side may have a single seed. */
export function difference(one: Summary, other: Summary): Difference {
  const value = one.mean - other.mean;
  const freedom = one.values.length + other.values.length - 2;
  const quantile = T_QUANTILES[freedom - 1];
  if (quantile === undefined) return { value, noise: null };
  const variance = (squares(one.values, one.mean) + squares(other.values, other.mean)) / freedom;
  return { value, noise: quantile * Math.sqrt(variance * (1 / one.values.length + 1 / other.values.length)) };
}

export function isWithinNoise({ value, noise }: Difference): boolean {
  return noise !== null && Math.abs(value) <= noise;
}
