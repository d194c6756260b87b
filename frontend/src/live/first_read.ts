/** What the run page waits for before it shows anything: the run, how its state changed, the overview's curves. */

import { api } from "../api/endpoints.ts";
import type { MetricKey } from "../api/metric_key.ts";
import type { Curves, Run, Transition } from "../api/schema.ts";
import { OVERVIEW_POINTS } from "./growing_curve.ts";

/** The curves that the overview draws; every other one is read when it is shown. */
const FIRST_SHOWN: readonly MetricKey[] = [
  "reward/mean",
  "reward/std",
  "eval/reward",
  "policy/kl",
  "speed/images_per_second",
  "speed/batch_seconds",
  "reward/zero_std_share",
];

export type FirstRead = readonly [Run, readonly Transition[], Curves];

export function readFirst(runId: string): Promise<FirstRead> {
  return Promise.all([
    api.getRun(runId),
    api.transitions(runId),
    api.metrics(runId, { keys: FIRST_SHOWN, max_points: OVERVIEW_POINTS }),
  ]);
}
