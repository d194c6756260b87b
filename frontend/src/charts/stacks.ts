/** Columns over time for charts: stacked on each other, and with holes where nothing was measured. */

import type { Column } from "./axis.ts";

/** The tops of stacked columns: each the sum of itself and of all before it. A missing value counts as none. */
export function stacked(columns: readonly Column[]): number[][] {
  const tops: number[][] = [];
  for (const column of columns) {
    const below = tops.at(-1);
    tops.push(column.map((value, index) => (value ?? 0) + (below?.[index] ?? 0)));
  }
  return tops;
}

export interface Timed {
  /** Unix seconds. */
  readonly at: readonly number[];
  readonly columns: readonly Column[];
}

/** The same with a row of nulls wherever two times lie further apart than `step` by half, so that no line is drawn over
 * what was not measured. */
export function withHoles({ at, columns }: Timed, step: number): Timed {
  const times: number[] = [];
  const filled: Column[] = columns.map(() => []);
  at.forEach((time, index) => {
    const before = at[index - 1];
    if (before !== undefined && time - before > step * 1.5) {
      times.push(before + step);
      for (const column of filled) column.push(null);
    }
    times.push(time);
    columns.forEach((column, which) => {
      filled[which]?.push(column[index] ?? null);
    });
  });
  return { at: times, columns: filled };
}

/** The index of the bucket that a time lies in: the last that has begun; null before the first. */
export function bucketAt(at: readonly number[], time: number): number | null {
  let found: number | null = null;
  for (let index = 0; index < at.length && (at[index] ?? 0) <= time; index++) found = index;
  return found;
}
