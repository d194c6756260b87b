/** What the usage page can be asked: by what, in which unit, over which window. */

import type { UsageBy, Window } from "../../api/endpoints.ts";
import type { DailyUsageRow, UsageRow } from "../../api/schema.ts";
import { number } from "../../base/format.ts";

export const USAGE_BY: Readonly<Record<UsageBy, string>> = {
  project: "Project",
  user: "User",
  base_model: "Model",
  accelerator: "GPU kind",
  node: "Node",
  pool: "Pool",
  run: "Run",
  day: "Day",
};
export const ALL_BY: readonly [UsageBy, ...UsageBy[]] = [
  "project",
  "user",
  "base_model",
  "accelerator",
  "node",
  "pool",
  "run",
  "day",
];

export type Measure = "gpu_hours" | "lane_hours" | "cost";
export const MEASURES: readonly [Measure, ...Measure[]] = ["gpu_hours", "lane_hours", "cost"];
export const MEASURE_WORDS: Readonly<Record<Measure, string>> = {
  gpu_hours: "GPU hours",
  lane_hours: "Lane hours",
  cost: "Cost",
};

/** A last day, and how many days before it, or a range of one's own. */
export type Span = "7" | "30" | "90" | "own";
export const SPANS: readonly [Span, ...Span[]] = ["30", "7", "90", "own"];

const DAY_MILLISECONDS = 86_400_000;

/** The window of whole days of UTC that ends with today, or the range from `from` to `to`, both included. Null for a
 * range that is not complete or empty. */
export function windowOf(span: Span, from: string, to: string, now: number): Window | null {
  const today = Math.floor((now * 1000) / DAY_MILLISECONDS) * DAY_MILLISECONDS;
  const iso = (milliseconds: number) => new Date(milliseconds).toISOString();
  if (span !== "own") {
    return { since: iso(today - (Number(span) - 1) * DAY_MILLISECONDS), until: iso(today + DAY_MILLISECONDS) };
  }
  const [first, last] = [Date.parse(`${from}T00:00:00Z`), Date.parse(`${to}T00:00:00Z`)];
  return first <= last ? { since: iso(first), until: iso(last + DAY_MILLISECONDS) } : null;
}

export interface Totals {
  readonly gpu_hours: number;
  readonly lane_hours: number;
  /** Null where nothing had a price. */
  readonly cost: number | null;
  readonly unpriced_gpu_hours: number;
}

export function totalsOf(rows: readonly UsageRow[]): Totals {
  const sum = (value: (row: UsageRow) => number) => rows.reduce((all, row) => all + value(row), 0);
  const isPriced = rows.some(({ cost }) => cost !== null);
  return {
    gpu_hours: sum((row) => row.gpu_hours),
    lane_hours: sum((row) => row.lane_hours),
    cost: isPriced ? sum((row) => Number(row.cost ?? 0)) : null,
    unpriced_gpu_hours: sum((row) => row.unpriced_gpu_hours),
  };
}

/** What prices mean, and what they leave out. */
export function priceText({ cost, gpu_hours, unpriced_gpu_hours: without }: Totals): string {
  const meaning =
    "Cost is computed at the price per GPU hour that each GPU, or its node, had when its lane was given, in whatever " +
    "currency your admins write prices in.";
  if (cost === null)
    return `No price: none of these GPUs had one. Pool admins write prices on the page Pool. ${meaning}`;
  if (without === 0) return meaning;
  return `${meaning} ${number(without)} of ${number(gpu_hours)} GPU hours had no price and cost nothing here.`;
}

export function money(value: number | null): string {
  if (value === null) return "no price";
  return value.toLocaleString("en-GB", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
}

export function measured(row: UsageRow, measure: Measure): number {
  return measure === "cost" ? Number(row.cost ?? 0) : row[measure];
}

/** The daily values of a row, those of a measure. */
/** The measures of which the days have anything. */
export function measuresUsed(rows: readonly DailyUsageRow[]): readonly Measure[] {
  return MEASURES.filter((measure) => rows.some((row) => daily(row, measure).some((value) => value > 0)));
}

export function daily(row: DailyUsageRow, measure: Measure): number[] {
  return [...row[measure]];
}
