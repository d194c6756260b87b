/** Which curves stand together in which panel, and in what order: the run page's curated default. */

import { spelt } from "../base/format.ts";

export interface PanelSpec {
  readonly id: string;
  readonly title: string;
  readonly help: string;
  readonly keys: readonly string[];
  /** Draw `keys[0]` with a band of ± this curve. */
  readonly band?: string;
  readonly unit?: string;
  /** A horizontal line worth seeing, e.g. ratio = 1. */
  readonly reference?: number;
  /** Measured by some algorithms alone. */
  readonly ofSome?: boolean;
}

const REWARD: PanelSpec = {
  id: "reward",
  title: "Reward",
  help: "Mean of each batch's samples, with one standard deviation around it.",
  keys: ["reward/mean"],
  band: "reward/std",
};
const KL: PanelSpec = {
  id: "kl",
  title: "KL to the reference",
  help: "How far the policy has moved from the base model.",
  keys: ["policy/kl"],
  ofSome: true,
};

const SPEED: PanelSpec = {
  id: "speed",
  title: "Samples per second",
  help: "Trajectories trained on, over the batch's wall time.",
  keys: ["speed/images_per_second"],
  unit: "samples/s",
};

/** Held-out reward, with the judges that are shares of one too: rewards of other scales would flatten them. */
function evaluation(judges: readonly string[]): PanelSpec {
  return {
    id: "eval",
    title: "Held-out evaluation",
    help: "Seeds the run never trains on, drawn without noise.",
    keys: ["eval/reward", ...judges.map((judge) => `eval/part/${judge}`)],
  };
}

export function overviewPanels(judges: readonly string[]): readonly PanelSpec[] {
  return [REWARD, evaluation(judges), KL, SPEED];
}

export const METRIC_PANELS: readonly PanelSpec[] = [
  REWARD,
  evaluation([]),
  KL,
  {
    id: "ratio",
    title: "Ratio",
    help: "Probability now against probability when sampled; 1 on fresh data.",
    keys: ["policy/ratio_mean"],
    reference: 1,
    ofSome: true,
  },
  {
    id: "clip",
    title: "Clip fraction",
    help: "Share of pairs whose ratio left the clip range.",
    keys: ["policy/clip_fraction"],
    ofSome: true,
  },
  {
    id: "loss",
    title: "Loss",
    help: "What the optimizer makes small, as the run's algorithm defines it.",
    keys: ["policy/loss"],
  },
  { id: "grad", title: "Gradient norm", help: "Before clipping.", keys: ["policy/grad_norm"] },
  SPEED,
  {
    id: "seconds",
    title: "Seconds per batch",
    help: "The whole batch, and what lanes spent generating and training.",
    keys: ["speed/batch_seconds", "speed/generate_seconds", "speed/train_seconds"],
    unit: "s",
  },
  {
    id: "staleness",
    title: "Staleness",
    help: "Policy versions between sampling and training.",
    keys: ["staleness/mean", "staleness/max"],
  },
  { id: "idle", title: "Idle share", help: "Share of lane time in which a lane waited.", keys: ["lanes/idle_share"] },
  {
    id: "zero",
    title: "Groups without spread",
    help: "Groups whose members all scored alike teach nothing.",
    keys: ["reward/zero_std_share"],
  },
];

/** Those with something to show: before the first batch nobody knows what some algorithms do not measure. */
export function measuredPanels(panels: readonly PanelSpec[], known: ReadonlySet<string>): readonly PanelSpec[] {
  const hasTrained = known.has("reward/mean");
  return panels.filter((panel) => panel.keys.some((key) => known.has(key)) || (!hasTrained && !panel.ofSome));
}

/** The curves a panel shows now, in its own order. */
export function matchingKeys(panel: PanelSpec, known: Iterable<string>): string[] {
  const all = new Set(known);
  return panel.keys.filter((key) => all.has(key));
}

/** Keys that no curated panel shows: they get panels of their own, so that nothing reported is hidden. */
export function leftOver(known: Iterable<string>): string[] {
  const shown = new Set(METRIC_PANELS.flatMap((panel) => [...matchingKeys(panel, known), panel.band ?? ""]));
  return [...known].filter((key) => !shown.has(key)).sort();
}

/** `eval/part/shape_judge` → "shape judge". */
export function curveLabel(key: string): string {
  const last = key.split("/").at(-1) ?? key;
  return spelt(last.replace(/_seconds$/, ""));
}

const ROOMS: Record<string, string> = {
  "reward/part": "Reward part",
  "eval/part": "Held-out",
  "reward/missing": "Scores missing",
  "reward/retries": "Tries repeated",
};

const TITLES: Record<string, string> = {
  "speed/batch_seconds": "Seconds per batch",
  "speed/generate_seconds": "Seconds of generating, per batch",
  "speed/train_seconds": "Seconds of training, per batch",
  "staleness/mean": "Staleness, mean",
  "staleness/max": "Staleness, largest",
  "reward/std": "Reward spread",
  "policy/learning_rate": "Learning rate",
  "policy/ratio_max_deviation": "Largest deviation of the ratio",
  "reward/hacking_suspected": "Reward hacking suspected",
  "staleness/policy_version": "Policy version",
};

/** A title for a curve that stands alone: `eval/part/shape_judge` → "Held-out: shape judge". */
export function curveTitle(key: string): string {
  const panel = METRIC_PANELS.find((known) => known.keys.length === 1 && known.keys[0] === key);
  const title = panel?.title ?? TITLES[key];
  if (title) return title;
  const room = key.split("/").slice(0, -1).join("/");
  return room ? `${ROOMS[room] ?? room}: ${curveLabel(key)}` : curveLabel(key);
}
