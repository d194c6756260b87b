/** Lends in plain words. */

import type { Lend } from "../../api/schema.ts";
import { clock, duration, unixSeconds } from "../../base/format.ts";

/** A gain with its sign: +12 s, −3 min 05 s. */
export function gainText(seconds: number): string {
  return `${seconds < 0 ? "−" : "+"}${duration(Math.abs(seconds))}`;
}

export function lenderText({ lender_kind, lender }: Lend): string {
  if (lender_kind === "pool") return "the pool";
  return lender_kind === "run" ? "its own trainer lanes" : lender;
}

/** Seconds of the lend, until `now` while it is open. */
export function lentSeconds({ begin, end }: Lend, now: number): number {
  return Math.max(0, (unixSeconds(end) ?? now) - (unixSeconds(begin) ?? now));
}

/** How it ended: "in 4 s, 1 fragment drawn again", "asked back 12:04:31", "lent". */
export function returnText({ end, notice_at, return_seconds, num_dropped }: Lend): string {
  if (notice_at === null) return end === null ? "lent" : "let go";
  if (return_seconds === null) return `asked back ${clock(unixSeconds(notice_at))}`;
  const dropped = num_dropped > 0 ? `, ${num_dropped} fragment${num_dropped > 1 ? "s" : ""} drawn again` : "";
  return `in ${duration(return_seconds)}${dropped}`;
}

/** All that a bar can say of its lend. */
export function lendTitle(lend: Lend, now: number): string {
  const lines = [
    `${lend.lane || lend.lane_in_run}: ${lenderText(lend)} → ${lend.run_name} (${lend.role})`,
    `${clock(unixSeconds(lend.begin))}, ${duration(lentSeconds(lend, now))}${lend.end === null ? " so far" : ""}`,
    lend.reason,
  ];
  if (lend.notice_at !== null) lines.push(`Asked back: ${lend.end_reason}; given back ${returnText(lend)}`);
  return lines.join("\n");
}
