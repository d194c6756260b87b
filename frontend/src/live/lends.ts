/** Decisions to lend trainer lanes, from the stream: one item when a decision is made, one more when it is settled. */

import type { LendDecision, LendItem } from "../api/schema.ts";

export function lendOf({ body, attempt, at }: LendItem): LendDecision {
  return { ...body, attempt, at, settled_at: body.realised_gain_seconds === null ? null : at };
}

/** `known` with what an item adds: a new decision, or the result of the newest one of its number. */
export function withLend(known: readonly LendDecision[], added: LendDecision): readonly LendDecision[] {
  const index = known.findLastIndex((one) => one.attempt === added.attempt && one.decision === added.decision);
  const before = known[index];
  // A driver that goes back to its checkpoint counts its decisions anew: only what settles one refers to an older item.
  if (!before || added.settled_at === null) return [...known, added];
  const { settled_at, realised_gain_seconds } = added;
  return known.with(index, { ...before, settled_at, realised_gain_seconds });
}

/** The decision by which `lane` generated at `time`: the newest one made before. */
export function decisionBehind(lends: readonly LendDecision[], lane: string, time: number): LendDecision | undefined {
  return lends.findLast((one) => one.at <= time && one.lanes.includes(lane));
}
