/** Sweeps for tests, as REST sends them. */

import type { BestPoint, Sweep, SweepPlan, SweptPoint } from "../api/schema.ts";

/** A point whose seeds have these newest values. */
export function sweptPoint(
  number: number,
  values: SweptPoint["values"],
  seeds: readonly number[],
  changed: Partial<SweptPoint> = {},
): SweptPoint {
  const runs = seeds.map((value, seed) => ({
    seed,
    id: `00000000-0000-4000-8000-00000000${number}${seed}`,
    name: `rates #${number} seed ${seed}`,
    state: "running" as const,
    problem: "",
    value,
    num_samples: 400,
    gpu_hours: 0.5,
  }));
  return {
    number,
    values,
    state: "running",
    value: seeds.length === 0 ? null : seeds.reduce((sum, value) => sum + value, 0) / seeds.length,
    least: seeds.length === 0 ? null : Math.min(...seeds),
    greatest: seeds.length === 0 ? null : Math.max(...seeds),
    num_samples: 400,
    gpu_hours: 0.5 * seeds.length,
    rungs: [],
    runs,
    ...changed,
  };
}

export function sweepOf({
  space = {},
  maximise = true,
  ...changed
}: Partial<Sweep> & { space?: SweepPlan["space"]; maximise?: boolean }): Sweep {
  const plan: SweepPlan = {
    name: "rates",
    spec: {},
    space,
    sampler: { kind: "grid", num_points: null, seed: 0 },
    pruner: { kind: "none", min_samples: null, reduction_factor: 3 },
    num_seeds: 1,
    max_parallel_runs: 4,
    budget_gpu_hours: null,
    objective: { metric: "eval/reward", maximise },
  };
  return {
    id: "10000000-0000-4000-8000-000000000000",
    operation: "sweep-10000000-0000-4000-8000-000000000000",
    name: "rates",
    project: { id: "20000000-0000-4000-8000-000000000000", name: "Shapes", role: "owner" },
    created_by: "alice",
    created_at: "2026-11-23T12:00:00Z",
    ended_at: null,
    state: "running",
    reason: "",
    num_points: changed.points?.length ?? 0,
    num_pruned: 0,
    num_runs: 0,
    num_runs_ended: 0,
    num_runs_live: 0,
    gpu_hours: 0,
    budget_gpu_hours: null,
    parent: null,
    num_invalid_draws: 0,
    invalid_draw: "",
    lane_hours: 0,
    points: [],
    best_so_far: [],
    ...changed,
    best: bestOf(changed.points ?? [], maximise),
    plan: changed.plan ? { ...changed.plan, objective: plan.objective } : plan,
  };
}

/** As the server finds it: of several the first. */
function bestOf(points: readonly SweptPoint[], maximise: boolean): BestPoint | null {
  const sign = maximise ? 1 : -1;
  let best: BestPoint | null = null;
  for (const { number, values, value, runs } of points) {
    if (value === null || (best !== null && sign * (value - best.value) <= 0)) continue;
    best = { number, values, value, run: runs[0]?.id ?? "" };
  }
  return best;
}
