/** Samples of one batch as a grid shows them: by prompt and member, on one scale of reward, beside what is known of the
 * whole group that they are of. Pure. */

import type { GroupOfBatch, Sample } from "../../api/schema.ts";

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

/** The samples of one prompt, and its group where the run has reported it. */
export interface SampleRow {
  readonly promptIndex: number;
  readonly prompt: string;
  readonly samples: readonly Sample[];
  readonly group: GroupOfBatch | undefined;
  /** Of the whole group where it is known, else of the samples shown; null where none has a reward. */
  readonly meanReward: number | null;
}

/** Which prompts of a batch are shown, in which order. */
export type RowChoice = "all" | "best" | "worst" | "zero_spread";

export function rowsOf(
  samples: readonly Sample[],
  groups: readonly GroupOfBatch[] = [],
  choice: RowChoice = "all",
): SampleRow[] {
  const rows = [...byPrompt(samples)].map(([promptIndex, members]): SampleRow => {
    const group = groups.find((one) => one.prompt_index === promptIndex);
    const meanReward = group ? group.mean_reward : meanOf(members);
    return { promptIndex, prompt: members[0]?.prompt ?? "", samples: members, group, meanReward };
  });
  if (choice === "all") return rows;
  if (choice === "zero_spread") return rows.filter(({ group }) => group?.has_spread === false);
  const sign = choice === "best" ? -1 : 1;
  // Groups without any reward stand last either way.
  const place = ({ meanReward }: SampleRow) => (meanReward === null ? Infinity : sign * meanReward);
  return rows.sort((a, b) => place(a) - place(b));
}

/** Over the samples that have a reward; null where none has. */
function meanOf(samples: readonly Sample[]): number | null {
  const rewards = samples.flatMap((sample) => sample.reward ?? []);
  return rewards.length === 0 ? null : rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
}

/** The sample `right` members and `down` prompts from another one; undefined beyond the edge of the grid. */
export function neighbour(
  rows: readonly (readonly Sample[])[],
  from: Sample,
  right: number,
  down: number,
): Sample | undefined {
  const row = rows.findIndex((samples) => samples.includes(from));
  const column = rows[row]?.indexOf(from) ?? -1;
  const to = rows[row + down];
  // A shorter row is entered at its end.
  return down === 0 ? to?.[column + right] : to?.[Math.min(column, to.length - 1)];
}

/** The sample of the same prompt, member and noise, by which two versions can be compared. */
export function twinOf(sample: Sample, others: readonly Sample[]): Sample | undefined {
  return others.find(
    (other) => other.prompt_id === sample.prompt_id && other.member === sample.member && other.seed === sample.seed,
  );
}
