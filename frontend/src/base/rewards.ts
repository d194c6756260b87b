/** The rewards of a spec, by the keys of their curves. Pure. */

import { type RunSpec, verdictRewardValues } from "../api/schema.ts";
import type { Json } from "./paths.ts";

/** What a reward's curves are called: its label, or its scorer's name. */
export function rewardKey({ name, label }: { readonly name?: Json; readonly label?: Json }): string {
  return typeof label === "string" && label !== "" ? label : String(name);
}

type Rewards = Pick<RunSpec, "rewards">;

/** The keys of all rewards, in the spec's order. */
export function rewardsOf({ rewards }: Rewards): string[] {
  return rewards.map(rewardKey);
}

/** Rewards measured but never trained on: they show whether a rise of the trained ones is real. */
export function watchedRewards({ rewards }: Rewards): string[] {
  return rewards.filter((reward) => reward.watched).map(rewardKey);
}

/** Whether a scorer gives 1 for right and 0 for wrong, so that its mean is a share of samples. */
export function isVerdict(name: Json | undefined): boolean {
  return verdictRewardValues.some((verdict) => verdict === name);
}

/** The watched rewards that give 1 or 0. */
export function watchedVerdicts({ rewards }: Rewards): string[] {
  return rewards.filter((reward) => reward.watched && isVerdict(reward.name)).map(rewardKey);
}
