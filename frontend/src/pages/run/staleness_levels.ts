/** What the columns of the staleness heat map say: levels, shares, and a column in words. Pure. */

import type { StalenessColumn } from "../../api/schema.ts";
import { number } from "../../base/format.ts";
import type { Column } from "../../charts/axis.ts";

/** Every staleness from 0 to the largest that the run allows or has reported. */
export function levelsOf(columns: readonly StalenessColumn[], maxStaleness: number): number[] {
  const most = columns.flatMap(({ counts }) => Object.keys(counts).map(Number)).reduce(larger, maxStaleness);
  return Array.from({ length: most + 1 }, (_, level) => level);
}

/** Trajectories of one batch at a staleness; the mean of the column's batches where it has several. */
export function perBatch(column: StalenessColumn, level: number): number {
  return (column.counts[level] ?? 0) / column.num_batches;
}

export function most(columns: readonly StalenessColumn[]): number {
  return columns
    .flatMap((column) => Object.values(column.counts).map((count) => count / column.num_batches))
    .reduce(larger, 0);
}

/** Of all trajectories in the columns. */
export function shareOf(columns: readonly StalenessColumn[], level: number): number {
  const atLevel = columns.reduce((sum, { counts }) => sum + (counts[level] ?? 0), 0);
  return atLevel / columns.reduce((sum, column) => sum + numTrajectories(column), 0);
}

export function levelText(level: number): string {
  return level === 0 ? "this version" : `${level} ${level === 1 ? "version" : "versions"} behind`;
}

/** "Batches 5 to 8: reward 0.4, mean staleness 0.25; trajectories at staleness 0: 48, 1: 16". */
export function columnText(column: StalenessColumn, reward: number | null): string {
  const { first_batch: first, last_batch: last, counts } = column;
  const batches = first === last ? `Batch ${number(first)}` : `Batches ${number(first)} to ${number(last)}`;
  const parts = Object.entries(counts).map(([level, count]) => `${level}: ${number(count)}`);
  const measured = reward === null ? "" : `reward ${number(reward)}, `;
  const mean = `mean staleness ${number(meanStaleness(column))}`;
  return `${batches}: ${measured}${mean}; trajectories at staleness ${parts.join(", ")}`;
}

/** The mean reward of a column's batches by a curve over batches, of which a thinned one's points stand for the batches
 * up to theirs; null where it has not come so far. */
export function rewardOf(column: StalenessColumn, batches: readonly number[], rewards: Column): number | null {
  const within = rewards.filter((value, index) => {
    const batch = batches[index] ?? 0;
    return value !== null && batch >= column.first_batch && batch <= column.last_batch;
  }) as number[];
  if (within.length > 0) return within.reduce((sum, value) => sum + value, 0) / within.length;
  return rewards[batches.findIndex((batch) => batch > column.last_batch)] ?? null;
}

export function meanStaleness(column: StalenessColumn): number {
  const sum = Object.entries(column.counts).reduce((total, [level, count]) => total + Number(level) * count, 0);
  return sum / numTrajectories(column);
}

function numTrajectories({ counts }: StalenessColumn): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

const larger = (a: number, b: number) => Math.max(a, b);
