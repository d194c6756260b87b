/** Which curves stand together in which panel, and in what order: the run page's curated default. */

import type { MetricKey } from "../api/metric_key.ts";
import { spelt } from "../base/format.ts";

/** `Key`: names of metrics; a curated panel may only name those of the contract. */
export interface PanelSpec<Key extends string = string> {
  readonly id: string;
  readonly title: string;
  readonly help: string;
  readonly keys: readonly Key[];
  /** Draw `keys[0]` with a band of ± this curve. */
  readonly band?: Key;
  readonly unit?: string;
  /** Where a horizontal line is drawn, e.g. ratio = 1. */
  readonly reference?: number;
  /** Only some runs measure it, by their algorithm or settings. */
  readonly ofSome?: boolean;
}

type Curated = PanelSpec<MetricKey>;

const REWARD: Curated = {
  id: "reward",
  title: "Reward",
  help: "Mean of each batch's samples, with one standard deviation around it.",
  keys: ["reward/mean"],
  band: "reward/std",
};
const KL: Curated = {
  id: "kl",
  title: "KL to the reference",
  help: "How far the policy has moved from the base model.",
  keys: ["policy/kl"],
  ofSome: true,
};

const SPEED: Curated = {
  id: "speed",
  title: "Samples per second",
  help: "Trajectories trained on, divided by the wall time of each batch.",
  keys: ["speed/images_per_second"],
  unit: "samples/s",
};

/** Held-out reward, with the verdicts, whose means are shares too: rewards of other scales would flatten them. */
function evaluation(verdicts: readonly string[]): Curated {
  return {
    id: "eval",
    title: "Held-out evaluation",
    help: "Seeds the run never trains on, drawn without noise.",
    keys: ["eval/reward", ...verdicts.map((name): MetricKey => `eval/part/${name}`)],
  };
}

export const METRIC_PANELS: readonly Curated[] = [
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
    help: "What the optimizer minimises, as the run's algorithm defines it.",
    keys: ["policy/loss"],
  },
  { id: "grad", title: "Gradient norm", help: "Before clipping.", keys: ["policy/grad_norm"] },
  SPEED,
  {
    id: "seconds",
    title: "Seconds per batch",
    help: "The whole batch, what lanes spent generating and training, and of that on passes of weight 0 (ZeRO 2 and 3).",
    keys: ["speed/batch_seconds", "speed/generate_seconds", "speed/train_seconds", "speed/padding_seconds"],
    unit: "s",
  },
  {
    id: "staleness",
    title: "Staleness",
    help: "Policy versions between sampling and training.",
    keys: ["staleness/mean", "staleness/max"],
  },
  {
    id: "idle",
    title: "Idle share",
    help: "Share of each batch's lane time, pauses left out, in which a lane waited.",
    keys: ["lanes/idle_share"],
  },
  {
    id: "zero",
    title: "Groups without spread",
    help: "Groups whose members all have the same reward: they give no gradient.",
    keys: ["reward/zero_std_share"],
  },
  {
    id: "resampled",
    title: "Groups drawn again",
    help: "Draws of the batch that were dropped, since all members had the same reward.",
    keys: ["reward/resampled_groups"],
    ofSome: true,
  },
  {
    id: "skipped",
    title: "Optimizer steps skipped",
    help: "Steps of the batch that were not taken, since no group of the mini-batch had spread.",
    keys: ["policy/skipped_optimizer_steps"],
    ofSome: true,
  },
];

/** Beside reward and held-out evaluation: whether training is sound, and how fast it is. */
const OVERVIEW_IDS = ["kl", "ratio", "clip", "grad", "staleness", "speed"];

/** The panels of the overview: always the same, so that none moves when another gets its first point. */
export function overviewPanels(verdicts: readonly string[]): readonly Curated[] {
  return [REWARD, evaluation(verdicts), ...METRIC_PANELS.filter(({ id }) => OVERVIEW_IDS.includes(id))];
}

/** The panels with something to show. Before the first batch, those that every algorithm measures. */
export function measuredPanels<Panel extends PanelSpec>(
  panels: readonly Panel[],
  known: ReadonlySet<string>,
): readonly Panel[] {
  const hasTrained = known.has("reward/mean");
  return panels.filter((panel) => panel.keys.some((key) => known.has(key)) || (!hasTrained && !panel.ofSome));
}

/** The curves a panel shows now, in its own order. */
export function matchingKeys(panel: PanelSpec, known: Iterable<string>): string[] {
  const all = new Set(known);
  return panel.keys.filter((key) => all.has(key));
}

/** `reward_2` before `reward_10`. */
const byNumber = (a: string, b: string) => a.localeCompare(b, "en", { numeric: true });

/** Keys that no curated panel shows: they get panels of their own, so that nothing reported is hidden. */
export function leftOver(known: Iterable<string>): string[] {
  const shown = new Set(METRIC_PANELS.flatMap((panel) => [...matchingKeys(panel, known), panel.band ?? ""]));
  return [...known].filter((key) => !shown.has(key)).sort(byNumber);
}

/** `eval/part/shape_judge` → "shape judge". */
export function curveLabel(key: string): string {
  const last = key.split("/").at(-1) ?? key;
  return spelt(last.replace(/_seconds$/, ""));
}

/** What precedes the name of a reward. */
const PREFIXES: Readonly<Record<string, string>> = {
  "reward/part": "Reward part",
  "eval/part": "Held-out",
  "reward/missing": "Scores missing",
  "reward/retries": "Calls repeated",
};

const TITLES: Readonly<Partial<Record<MetricKey, string>>> = {
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
  const titles: Readonly<Record<string, string | undefined>> = TITLES;
  const title = panel?.title ?? titles[key];
  if (title) return title;
  const prefix = key.split("/").slice(0, -1).join("/");
  return prefix ? `${PREFIXES[prefix] ?? prefix}: ${curveLabel(key)}` : curveLabel(key);
}

/** A panel of a curve that stands alone. */
export function ofKey(key: string): PanelSpec {
  return { id: key, title: curveTitle(key), help: key, keys: [key] };
}

export const PINNED = "Pinned";

/** What a metric's name begins with, and the section that it stands in, in the order of the page. */
const SECTIONS: Readonly<Record<string, string>> = {
  reward: "Reward and evaluation",
  eval: "Reward and evaluation",
  policy: "Policy",
  speed: "Speed",
  lanes: "Lanes and staleness",
  staleness: "Lanes and staleness",
};
const OTHERS = "Others";

/** Panels by section, those without any left out; pinned ones stand first, in the order of `pins`, and not again. */
export function sectionsOf<Panel extends PanelSpec>(
  panels: readonly Panel[],
  pins: readonly string[],
): [string, readonly Panel[]][] {
  const titleOf = ({ keys }: Panel) => SECTIONS[keys[0]?.split("/")[0] ?? ""] ?? OTHERS;
  const pinned = pins.flatMap((id) => panels.find((panel) => panel.id === id) ?? []);
  const rest = panels.filter((panel) => !pins.includes(panel.id));
  const titles = [...new Set([...Object.values(SECTIONS), OTHERS])];
  const sections = titles.map((title): [string, Panel[]] => [title, rest.filter((panel) => titleOf(panel) === title)]);
  return [[PINNED, pinned] as [string, Panel[]], ...sections].filter(([, ofSection]) => ofSection.length > 0);
}
