/** Which curves stand together in which panel, and in what order: the run page's curated default. */

export interface PanelSpec {
  readonly id: string;
  readonly title: string;
  readonly help: string;
  /** Metric keys; a key ending in `*` stands for every curve with that beginning. */
  readonly keys: readonly string[];
  /** Draw `keys[0]` with a band of ± this curve. */
  readonly band?: string;
  readonly unit?: string;
  /** A horizontal line worth seeing, e.g. ratio = 1. */
  readonly reference?: number;
}

export const OVERVIEW_PANELS: readonly PanelSpec[] = [
  {
    id: "reward", title: "Reward", help: "Mean of each batch's samples, with one standard deviation around it.",
    keys: ["reward/mean"], band: "reward/std",
  },
  {
    id: "eval", title: "Held-out evaluation", help: "Seeds the run never trains on, drawn without noise.",
    keys: ["eval/reward", "eval/part/*"],
  },
];

export const METRIC_PANELS: readonly PanelSpec[] = [
  ...OVERVIEW_PANELS,
  { id: "parts", title: "Reward by part", help: "Each reward on its own; watched ones are never trained on.",
    keys: ["reward/part/*"] },
  { id: "kl", title: "KL to the reference", help: "How far the policy has moved from the base model.",
    keys: ["policy/kl"] },
  { id: "ratio", title: "Ratio", help: "Probability now against probability when sampled; 1 on fresh data.",
    keys: ["policy/ratio_mean"], reference: 1 },
  { id: "clip", title: "Clip fraction", help: "Share of pairs whose ratio left the clip range.",
    keys: ["policy/clip_fraction"] },
  { id: "loss", title: "Loss", help: "The clipped policy objective, plus KL where it is on.", keys: ["policy/loss"] },
  { id: "grad", title: "Gradient norm", help: "Before clipping.", keys: ["policy/grad_norm"] },
  { id: "speed", title: "Images per second", help: "Trajectories trained on, over the batch's wall time.",
    keys: ["speed/images_per_second"], unit: "img/s" },
  { id: "seconds", title: "Seconds per batch", help: "The whole batch, and what lanes spent generating and training.",
    keys: ["speed/batch_seconds", "speed/generate_seconds", "speed/train_seconds"], unit: "s" },
  { id: "staleness", title: "Staleness", help: "Policy versions between sampling and training.",
    keys: ["staleness/mean", "staleness/max"] },
  { id: "idle", title: "Idle share", help: "Share of lane time in which a lane waited.", keys: ["lanes/idle_share"] },
  { id: "zero", title: "Groups without spread", help: "Groups whose members all scored alike teach nothing.",
    keys: ["reward/zero_std_share"] },
];

/** The curves a panel shows now, in its own order. */
export function matchingKeys(panel: PanelSpec, known: Iterable<string>): string[] {
  const all = [...known].sort();
  return panel.keys.flatMap((key) =>
    key.endsWith("*") ? all.filter((name) => name.startsWith(key.slice(0, -1))) : all.filter((name) => name === key),
  );
}

/** Keys that no curated panel shows: they get panels of their own, so that nothing reported is hidden. */
export function leftOver(known: Iterable<string>): string[] {
  const shown = new Set(METRIC_PANELS.flatMap((panel) => [...matchingKeys(panel, known), panel.band ?? ""]));
  return [...known].filter((key) => !shown.has(key)).sort();
}

/** `eval/part/shape_judge` → "shape judge". */
export function curveLabel(key: string): string {
  const last = key.split("/").at(-1) ?? key;
  return last.replaceAll("_", " ");
}
