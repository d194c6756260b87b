/** A project's quota as lengths of a bar. */

import type { PoolShare } from "../../api/schema.ts";
import { number } from "../../base/format.ts";

export interface Quota {
  /** Lanes that it holds and is entitled to, and those that it borrows. */
  readonly own: number;
  readonly borrowed: number;
  /** The bar's length, in lanes. */
  readonly whole: number;
}

/** Whole lanes are entitled where a part of one is. */
export function quotaOf(share: PoolShare, numLanes: number): Quota {
  const borrowed = Math.max(0, share.held_lanes - Math.ceil(share.entitled_lanes));
  const whole = Math.max(numLanes, share.held_lanes, share.max_lanes ?? 0, share.guaranteed_lanes, 1);
  return { own: share.held_lanes - borrowed, borrowed, whole };
}

/** "holds 6 (2 borrowed) · entitled to 4, 3 guaranteed · at most 8 · 2 wait". */
export function quotaText(share: PoolShare, { borrowed }: Quota): string {
  return [
    `holds ${share.held_lanes}${borrowed > 0 ? ` (${borrowed} borrowed)` : ""}`,
    `entitled to ${number(share.entitled_lanes, 2)}${share.guaranteed_lanes > 0 ? `, ${share.guaranteed_lanes} guaranteed` : ""}`,
    share.max_lanes === null ? "no limit" : `at most ${share.max_lanes}`,
    ...(share.num_waiting > 0 ? [`${share.num_waiting} wait${share.num_waiting === 1 ? "s" : ""}`] : []),
  ].join(" · ");
}

export const share = (lanes: number, whole: number): string => `${Math.min(100, (lanes / whole) * 100)}%`;
