/** The figures in which runs are compared: what each counts, and over which window. Pure. */

import { duration, number, percent, unixSeconds } from "../../base/format.ts";
import type { Curve } from "../../live/growing_curve.ts";
import { type ComparedRun, samplesPerBatch } from "./compared_run.ts";

export interface ComparedFigure {
  readonly label: string;
  /** What it counts, with its window. */
  readonly help: string;
  /** Training raises it: a difference beyond noise is a gain or a loss. */
  readonly isOptimised: boolean;
  readonly of: (compared: ComparedRun) => number | null;
  readonly text: (value: number) => string;
}

/** The curves that the figures are computed from. */
export const FIGURE_KEYS = ["reward/mean", "policy/kl", "speed/batch_seconds", "lanes/idle_share"] as const;

const mean = (values: readonly number[]) =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;

/** Values of the newest tenth of the batches. */
function newest(curve: Curve | undefined): number[] {
  if (!curve) return [];
  const since = 0.9 * (curve.batch.at(-1) ?? 0);
  return curve.value.filter((_, index) => (curve.batch[index] ?? 0) >= since);
}

/** The first batch loads models and compiles, so that it says nothing of the rest; one that stands alone counts. */
function afterFirst(curve: Curve | undefined): number[] {
  const values = curve?.value ?? [];
  return values.length > 1 ? values.slice(1) : [...values];
}

export const COMPARED_FIGURES: readonly ComparedFigure[] = [
  {
    label: "Held-out reward",
    help: "Mean reward of the newest evaluation's samples, whose prompts and seeds are never trained on.",
    isOptimised: true,
    of: ({ run }) => run.headline.reward_after ?? null,
    text: (value) => number(value),
  },
  {
    label: "Gain",
    help: "Held-out reward of the newest evaluation less that before training.",
    isOptimised: true,
    of: ({ run: { headline } }) =>
      typeof headline.reward_after === "number" && typeof headline.reward_before === "number"
        ? headline.reward_after - headline.reward_before
        : null,
    text: (value) => number(value),
  },
  {
    label: "Training reward",
    help: "Mean over the newest tenth of the batches.",
    isOptimised: true,
    of: ({ curves }) => mean(newest(curves.get("reward/mean"))),
    text: (value) => number(value),
  },
  {
    label: "KL to the reference",
    help: "Mean over the newest tenth of the batches.",
    isOptimised: false,
    of: ({ curves }) => mean(newest(curves.get("policy/kl"))),
    text: (value) => number(value),
  },
  {
    label: "Samples/s",
    help: "Trajectories of a batch over the mean wall time of all batches but the first.",
    isOptimised: false,
    of: ({ run, curves }) => {
      const seconds = mean(afterFirst(curves.get("speed/batch_seconds")));
      return seconds === null || seconds === 0 ? null : samplesPerBatch(run) / seconds;
    },
    text: (value) => number(value),
  },
  {
    label: "Lanes idle",
    help: "Idle share of lane time, as the mean of all batches but the first.",
    isOptimised: false,
    of: ({ curves }) => mean(afterFirst(curves.get("lanes/idle_share"))),
    text: (value) => percent(value, 1),
  },
  {
    label: "Took",
    help: "From start to end, pauses and restarts included; nothing for a run that has not ended.",
    isOptimised: false,
    of: ({ run }) => {
      const [begin, end] = [unixSeconds(run.started_at), unixSeconds(run.ended_at)];
      return begin === null || end === null ? null : end - begin;
    },
    text: (value) => duration(value),
  },
];
