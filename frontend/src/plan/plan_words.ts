/** A plan's modes and choices in words. Pure. */

import type { Plan, PlanChoice } from "../api/types.ts";

const MODES: Record<string, string> = {
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
  return MODES[mode] ?? mode.replaceAll("_", " ");
}

const counted = (count: number, noun: string, plural = `${noun}s`) => `${count} ${count === 1 ? noun : plural}`;
/** 4 · 4 and 8 · 2, 4 and 8. */
const joined = (values: readonly number[]) =>
  [values.slice(0, -1).join(", "), values.at(-1)].filter((part) => part !== "").join(" and ");

/** `disaggregated: 2 rollout lanes and 1 trainer lane, training while generating, …`. */
export function choiceInWords(choice: PlanChoice): string {
  const { gap, tsp, tag, max_staleness, placement } = choice.pipeline;
  const lanes =
    choice.num_rollout === 0
      ? `${counted(choice.num_trainer, "lane")} that all generate, then all train`
      : `${counted(choice.num_rollout, "rollout lane")} and ${counted(choice.num_trainer, "trainer lane")}`;
  const switches = [
    gap === true && choice.num_rollout > 0 ? "training while generating" : "",
    tsp === true && choice.num_trainer > 1 ? "denoising steps spread over trainer lanes" : "",
    tag !== undefined && tag !== "off" ? `${String(tag)} lending` : "",
    max_staleness === 1 ? "the next batch begun one version early" : "",
  ].filter(Boolean);
  return [`${String(placement)}: ${lanes}`, ...switches, `fragments of ${choice.fragment_size}`].join(", ");
}

/** What the prediction rests on. */
export function basisInWords({
  costs,
  num_batches_measured,
  fragment_sizes_measured,
  devices,
  guessed_as,
}: Plan): string {
  const on = devices.filter(Boolean).join(", ") || "devices without a name";
  const sizes = [...(fragment_sizes_measured ?? [])].sort((a, b) => a - b);
  const with_sizes = sizes.length === 0 ? "" : ` in fragments of ${joined(sizes)}; what other sizes cost is inferred`;
  return costs === "measured"
    ? `reckoned from ${counted(num_batches_measured, "batch", "batches")} measured on an earlier run, on ${on}${with_sizes}`
    : `reckoned from the documented profile of ${guessed_as ? `${guessed_as}, the usual size of its family: this model's is not known` : "the model"}, on ${on}; nothing was measured yet`;
}
