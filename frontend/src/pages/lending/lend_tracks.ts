/** Where each lend is drawn: a row for each lane, a bar for each lend, in shares of the window. Pure. */

import type { Lend } from "../../api/schema.ts";
import { unixSeconds } from "../../base/format.ts";
import { type Tick, ticksOf } from "../../timeline/ticks.ts";
import type { Extent } from "../../timeline/view.ts";

export interface LendBar {
  readonly lend: Lend;
  /** Share of the window before it, and its own; an instant has a share of 0. */
  readonly left: number;
  readonly width: number;
  /** The share of the bar after the notice; 0 for a lane that was not asked back. */
  readonly returning: number;
}

export interface LendRow {
  readonly lane: string;
  readonly between: readonly LendBar[];
  readonly within: readonly LendBar[];
}

/** Rows in the order of the lanes' names. Lends without a lane in the pool are listed by their name in the run. */
export function lendRows(lends: readonly Lend[], window: Extent): LendRow[] {
  const rows = new Map<string, { between: LendBar[]; within: LendBar[] }>();
  for (const lend of lends) {
    const bar = barOf(lend, window);
    if (bar === null) continue;
    const lane = lend.lane || lend.lane_in_run;
    const row = rows.get(lane) ?? { between: [], within: [] };
    row[lend.kind === "between_runs" ? "between" : "within"].push(bar);
    rows.set(lane, row);
  }
  const byName = new Intl.Collator("en", { numeric: true }).compare;
  return [...rows].sort(([one], [other]) => byName(one, other)).map(([lane, row]) => ({ lane, ...row }));
}

function barOf(lend: Lend, { from, to }: Extent): LendBar | null {
  const begin = unixSeconds(lend.begin) ?? from;
  const end = unixSeconds(lend.end) ?? to;
  const [left, right] = [Math.max(begin, from), Math.min(end, to)];
  if (right < left || to <= from) return null;
  const notice = unixSeconds(lend.notice_at);
  const seconds = right - left;
  return {
    lend,
    left: (left - from) / (to - from),
    width: seconds / (to - from),
    returning: notice === null || seconds === 0 ? 0 : Math.min(1, Math.max(0, right - notice) / seconds),
  };
}

/** Each borrower's number, in the order in which they first borrowed. */
export function borrowers(lends: readonly Lend[]): Map<string, number> {
  const found = new Map<string, number>();
  const oldestFirst = [...lends].sort((one, other) => Date.parse(one.begin) - Date.parse(other.begin));
  for (const lend of oldestFirst) if (!found.has(borrowerOf(lend))) found.set(borrowerOf(lend), found.size);
  return found;
}

/** What tells borrowers apart: runs that are not named are one. */
export function borrowerOf(lend: Lend): string {
  return lend.run ?? lend.run_name;
}

/** Ticks at round clock times of the reader's zone. */
export function clockTicks(window: Extent, count: number): Tick[] {
  const midnight = new Date(window.from * 1000).setHours(0, 0, 0, 0) / 1000;
  const isLong = window.to - window.from > 2 * 86_400;
  return ticksOf(window, count, midnight).map(({ at }) => {
    const date = new Date(at * 1000);
    const label = isLong
      ? date.toLocaleDateString("en-GB", { day: "numeric", month: "short" })
      : date.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
    return { at, label };
  });
}
