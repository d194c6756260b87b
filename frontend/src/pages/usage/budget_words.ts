/** What projects may spend, in words. */

import type { Budget } from "../../api/schema.ts";
import { clock, number, unixSeconds } from "../../base/format.ts";

export const UNITS: Readonly<Record<Budget["unit"], string>> = { cost: "cost", gpu_hours: "GPU hours" };
export const PERIODS: Readonly<Record<Budget["period"], string>> = { month: "each month", whole: "once and for all" };
export const WHEN_SPENT: Readonly<Record<Budget["when_spent"], string>> = {
  warn: "say so, everything goes on",
  hold: "let no further run begin",
  stop: "have running runs save and wait too",
};

/** "312 of 1,000 GPU hours this month, warned of from 80 %". */
export function spentText(budget: Budget): string {
  const amounts = `${number(Number(budget.spent))} of ${number(Number(budget.amount))} ${UNITS[budget.unit]}`;
  const period = budget.period === "month" ? "this month" : `since ${clock(unixSeconds(budget.begins_at), false)}`;
  return `${amounts} ${period}, warned of from ${Math.round(budget.warn_at * 100)} %`;
}

/** What holds now that so much is spent; empty while there is enough left. */
export function stateText(budget: Budget): string {
  if (budget.is_spent) return `Spent: ${WHEN_SPENT[budget.when_spent]}.`;
  return budget.is_near ? "Nearly spent." : "";
}

/** The spent share, at most 1; whole where nothing may be spent. */
export function spentShare(budget: Budget): number {
  const amount = Number(budget.amount);
  return amount > 0 ? Math.min(Number(budget.spent) / amount, 1) : 1;
}
