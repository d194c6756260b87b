/** Sweeps in words: values, points, and what a sweep is at. */

import type { ListedSweep, Sweep, SweptPoint } from "../../api/schema.ts";
import { number } from "../../base/format.ts";
import type { Json } from "../../base/paths.ts";

/** A setting's value as people write it. */
export function valueText(value: Json | undefined): string {
  if (typeof value === "number") return number(value);
  return typeof value === "string" ? value : JSON.stringify(value ?? null);
}

/** `learning_rate 0.001, rank 8`. */
export function pointText(point: Pick<SweptPoint, "values">): string {
  const settings = Object.entries(point.values);
  return settings.map(([path, value]) => `${path.split(".").at(-1)} ${valueText(value as Json)}`).join(", ");
}

/** The points from the best down; those without a value last, in their order. */
export function bestFirst({ plan, points }: Sweep): readonly SweptPoint[] {
  const sign = plan.objective.maximise ? 1 : -1;
  return points.toSorted((left, right) => {
    if (left.value === null || right.value === null) return Number(left.value === null) - Number(right.value === null);
    return sign * (right.value - left.value) || left.number - right.number;
  });
}

/** GPU-hours spent, with the budget where there is one: `1.2 of 20`. */
export function costText(sweep: Pick<ListedSweep, "gpu_hours" | "budget_gpu_hours">): string {
  const budget = sweep.budget_gpu_hours;
  return budget === null ? number(sweep.gpu_hours) : `${number(sweep.gpu_hours)} of ${number(budget)}`;
}

/** Whether its cost is told in lane-hours: it ran on CPU lanes alone, which cost no GPU-hours. */
export function isOnCpu(sweep: Sweep): boolean {
  return sweep.gpu_hours === 0 && sweep.lane_hours > 0;
}

/** Why the point was pruned; empty where it was not. */
export function prunedBecause({ rungs }: SweptPoint): string {
  return rungs.find((rung) => rung.is_pruned)?.reason ?? "";
}

/** A run of each of the first points that have a value: that of its first seed. */
export function bestRuns(points: readonly SweptPoint[], number: number): readonly string[] {
  const measured = points.filter(({ value }) => value !== null);
  return measured.flatMap(({ runs }) => runs.find(({ id }) => id !== null)?.id ?? []).slice(0, number);
}
