/** Samples of one batch as a grid shows them: by prompt and member, on one scale of reward. Pure. */

import type { Sample } from "../../api/schema.ts";
import { number } from "../../base/format.ts";

export interface Scale {
  readonly low: number;
  readonly high: number;
}

/** Rewards between 0 and 1 are coloured on that scale; others on the range of what is shown. */
export function rewardScale(samples: readonly Pick<Sample, "reward">[]): Scale {
  const rewards = samples.flatMap((sample) => sample.reward ?? []);
  const low = Math.min(...rewards);
  const high = Math.max(...rewards);
  return low >= 0 && high <= 1 ? { low: 0, high: 1 } : { low, high };
}

/** Where a reward lies on the scale, 0 to 1; 0 for a sample that has none, the middle where all are alike. */
export function levelOf(reward: number | null, { low, high }: Scale): number {
  if (reward === null) return 0;
  return high > low ? Math.min(1, Math.max(0, (reward - low) / (high - low))) : 0.5;
}

/** Samples by prompt index, members in order. */
export function byPrompt(samples: readonly Sample[]): Map<number, Sample[]> {
  const rows = new Map<number, Sample[]>();
  for (const sample of [...samples].sort((a, b) => a.prompt_index - b.prompt_index || a.member - b.member)) {
    const row = rows.get(sample.prompt_index);
    if (row) row.push(sample);
    else rows.set(sample.prompt_index, [sample]);
  }
  return rows;
}

/** Over the samples that have a reward; null where none has. */
export function meanReward(samples: readonly Pick<Sample, "reward">[]): number | null {
  const rewards = samples.flatMap((sample) => sample.reward ?? []);
  return rewards.length === 0 ? null : rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
}

/** A score in words: one that a scorer could not give is missing, since 0 would be a score. */
export function scoreText(sample: Pick<Sample, "rewards" | "missing">, name: string): string {
  const score = sample.rewards[name];
  return score === undefined ? `no score: ${sample.missing[name] ?? "see the reward lanes' log"}` : number(score, 4);
}
