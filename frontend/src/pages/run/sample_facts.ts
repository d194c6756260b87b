/** What is known of a sample, in words. Pure. */

import type { GroupOfBatch, Sample } from "../../api/schema.ts";
import { number, words } from "../../base/format.ts";

/** Everything, by name; `rewards` are the keys of all rewards of the run, `group` the whole group of the sample. */
export function factsOf(sample: Sample, rewards: readonly string[], group?: GroupOfBatch): [string, string][] {
  const names = [...new Set([...rewards, ...Object.keys(sample.rewards)])];
  return [
    ["Reward", number(sample.reward, 4)],
    ...names.map((name): [string, string] => [words(name), scoreText(sample, name)]),
    ["Advantage", sample.advantage === null ? "none: not trained on" : number(sample.advantage, 3)],
    ...(group ? [["Group", groupText(group)] as [string, string]] : []),
    ["Batch", String(sample.batch)],
    ["Policy version", `v${sample.policy_version}`],
    ["Staleness", String(sample.staleness)],
    ["Member", String(sample.member)],
    ["Seed", String(sample.seed)],
    ["Lane", sample.lane || "–"],
  ];
}

/** The same in short, a line each, for a tile that is pointed at. */
export function hoverText(sample: Sample): string {
  const parts = Object.entries(sample.rewards).map(([name, score]) => `${words(name)} ${number(score)}`);
  return [
    `Reward ${number(sample.reward)}`,
    ...(parts.length > 1 ? parts : []),
    ...(sample.advantage === null ? [] : [`Advantage ${number(sample.advantage)}`]),
    `Member ${sample.member}, v${sample.policy_version}, ${staleText(sample.staleness)}`,
    ...(sample.lane ? [`Generated on ${sample.lane}`] : []),
  ].join("\n");
}

/** Mean and standard deviation of a whole group. */
export function groupText(group: GroupOfBatch): string {
  return `mean ${number(group.mean_reward)} ± ${number(group.reward_std)}`;
}

function staleText(staleness: number): string {
  if (staleness === 0) return "no staleness";
  return `${staleness} ${staleness === 1 ? "version" : "versions"} stale`;
}

/** A score in words: one that a scorer could not give is missing, since 0 would be a score. */
export function scoreText(sample: Pick<Sample, "rewards" | "missing">, name: string): string {
  const score = sample.rewards[name];
  return score === undefined ? `no score: ${sample.missing[name] ?? "see the reward lanes' log"}` : number(score, 4);
}

interface BatchSize {
  readonly num_groups: number;
  readonly group_size: number;
  /** Samples of each prompt of an evaluation. */
  readonly num_held_out: number;
}

/** Which of a batch's samples are stored, and what the means beside them are over. */
export function coverageText(
  rows: readonly { readonly samples: readonly Sample[]; readonly group: GroupOfBatch | undefined }[],
  { num_groups, group_size, num_held_out }: BatchSize,
): string {
  const numMembers = Math.max(0, ...rows.map(({ samples }) => samples.length));
  const purpose = rows[0]?.samples[0]?.purpose;
  if (purpose !== "train") {
    const all = purpose === "evaluate" ? ` of ${num_held_out}` : "";
    const samples = numMembers === 1 && !all ? "sample" : "samples";
    return `${numMembers}${all} ${samples} of each of ${rows.length} prompts are stored. Means are over those.`;
  }
  const stored = `${numMembers} of ${group_size} members of ${rows.length} of ${num_groups} prompts are stored.`;
  const isKnown = rows.every(({ group }) => group);
  return `${stored} Means and spreads are over ${isKnown ? `all ${group_size} members` : "those"}.`;
}
