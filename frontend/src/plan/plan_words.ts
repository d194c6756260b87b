/** A plan's modes and choices in words. Pure. */

import type { Plan, PlanChoice } from "../api/schema.ts";

const MODES: Readonly<Record<Plan["mode"], string>> = {
  colocated: "Colocated",
  disaggregated: "Disaggregated",
  gap: "+ train while generating",
  tsp: "+ spread denoising steps",
  tag: "+ lending",
  stale: "+ staleness 1",
};

/** A plan's modes, each with one switch more than the one before. */
export function modesInOrder(plan: Plan): [string, PlanChoice][] {
  const order = Object.keys(MODES);
  return Object.entries(plan.by_mode).sort(([a], [b]) => order.indexOf(a) - order.indexOf(b));
}

export function modeLabel(mode: string): string {
  const known: Readonly<Record<string, string>> = MODES;
  return known[mode] ?? mode;
}

/** 1 lane, 2 lanes. */
const counted = (count: number, noun: string, plural = `${noun}s`) => `${count} ${count === 1 ? noun : plural}`;
/** `4`, `4 and 8`, `2, 4 and 8`. */
const joined = (values: readonly number[]) =>
  [values.slice(0, -1).join(", "), values.at(-1)].filter((part) => part !== "").join(" and ");

/** How many lanes generate and how many train: `1 + 2`, or `all 3` where all do both. */
export function splitInWords({ num_rollout, num_trainer }: Pick<PlanChoice, "num_rollout" | "num_trainer">): string {
  return num_rollout === 0 ? `all ${num_trainer}` : `${num_rollout} + ${num_trainer}`;
}

/** `disaggregated: 2 rollout lanes and 1 trainer lane, training while generating, …`. */
export function choiceInWords(choice: PlanChoice): string {
  const { gap, tsp, tag, max_staleness, placement } = choice.pipeline;
  const lanes =
    choice.num_rollout === 0
      ? `${counted(choice.num_trainer, "lane")} that each generate, then train`
      : `${counted(choice.num_rollout, "rollout lane")} and ${counted(choice.num_trainer, "trainer lane")}`;
  const switches = [
    gap && choice.num_rollout > 0 ? "training while generating" : "",
    tsp && choice.num_trainer > 1 ? "denoising steps spread over trainer lanes" : "",
    tag === "off" ? "" : `${tag} lending`,
    max_staleness === 1 ? "the next batch begun one version early" : "",
  ].filter(Boolean);
  return [`${placement}: ${lanes}`, ...switches, `fragments of ${choice.fragment_size}`].join(", ");
}

/** What the prediction is made from. */
export function basisInWords(plan: Plan): string {
  const on = plan.devices.filter(Boolean).join(", ") || "devices without a name";
  if (plan.costs === "profile") {
    const profile = plan.stand_in_profile
      ? `${plan.stand_in_profile}, the usual size of its family, since this model's size is not known`
      : "the model";
    return `predicted from the documented profile of ${profile}, on ${on}; nothing was measured yet`;
  }
  const batches = counted(plan.num_batches_measured, "batch", "batches");
  if (plan.costs === "corrected")
    return `predicted from the documented profiles, corrected by ${batches} measured on other kinds of GPU, on ${on}`;
  if (plan.costs === "own") return `predicted from ${batches} that this run has measured, on ${on}`;
  const sizes = plan.fragment_sizes_measured.toSorted((a, b) => a - b);
  const measured = sizes.length === 0 ? "" : ` in fragments of ${joined(sizes)}; what other sizes cost is inferred`;
  return `predicted from ${batches} measured on an earlier run, on ${on}${measured}`;
}
