/** Where the runs of a lineage are drawn: a row for each run, batches from left to right on one axis for all. */

import type { Lineage, LineageRun } from "../../api/schema.ts";

export interface LineageRow {
  readonly run: LineageRun;
  /** Middle of the row, as a share of the height. */
  readonly y: number;
  /** Shares of the width: where the run begins, how far it is, where it is to end. */
  readonly begin: number;
  readonly done: number;
  readonly end: number;
  readonly dots: readonly { readonly batch: number; readonly x: number; readonly isForked: boolean }[];
  /** Middle of the parent's row; null for a run whose parent is not shown. */
  readonly parentY: number | null;
}

export interface LineageLayout {
  readonly rows: readonly LineageRow[];
  /** Batches at which the axis is labelled. */
  readonly ticks: readonly { readonly batch: number; readonly x: number }[];
}

/** Ends of the axis, as shares of the width: the first and last dots are drawn whole. */
const [FIRST, LAST] = [0.02, 0.98];
const NUM_INTERVALS = 4;

export function lineageLayout({ runs }: Lineage): LineageLayout {
  const numBatches = Math.max(1, ...runs.map((run) => run.num_batches));
  const x = (batch: number) => FIRST + (LAST - FIRST) * (batch / numBatches);
  const places = new Map(runs.map((run, index) => [run.id, (index + 0.5) / runs.length]));
  const rows = runs.map((run) => {
    const begin = run.forked_batch ?? 0;
    const forked = new Set(runs.filter((other) => other.parent === run.id).map((other) => other.forked_batch));
    return {
      run,
      y: places.get(run.id) ?? 0,
      begin: x(begin),
      done: x(Math.max(begin, run.num_batches_done)),
      end: x(run.num_batches),
      dots: run.checkpoints.map((batch) => ({ batch, x: x(batch), isForked: forked.has(batch) })),
      parentY: run.parent === null ? null : (places.get(run.parent) ?? null),
    };
  });
  return { rows, ticks: tickBatches(numBatches).map((batch) => ({ batch, x: x(batch) })) };
}

/** Round steps from 0, and the last batch. */
function tickBatches(numBatches: number): number[] {
  const rough = numBatches / NUM_INTERVALS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(1, ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power);
  const ticks: number[] = [];
  // A tick close to the last batch would run into its label.
  for (let batch = 0; batch <= numBatches - step / 2; batch += step) ticks.push(batch);
  return [...ticks, numBatches];
}

/** What a row of the graph shows, in words. */
export function lineageWords(run: LineageRun, parentName: string | undefined): string {
  const parts = [`batch ${run.num_batches_done} of ${run.num_batches}`];
  if (run.forked_batch !== null) parts.push(`forked at ${run.forked_batch}`);
  else if (parentName !== undefined) parts.push("settings copied");
  const count = run.checkpoints.length;
  if (count > 0) parts.push(`${count} ${count === 1 ? "checkpoint" : "checkpoints"}`);
  return parts.join(" · ");
}
