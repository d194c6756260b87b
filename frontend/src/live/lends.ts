/** Decisions to lend as the stream tells them: once when made, once more when settled. Pure. */

import type { LendDecision, StreamItem } from "../api/types.ts";

export function lendOf(item: StreamItem): LendDecision {
  const body = item.body as unknown as Omit<LendDecision, "attempt" | "at" | "settled_at">;
  const isSettled = body.realised_gain_seconds !== null;
  return { ...body, attempt: item.attempt, at: item.at, settled_at: isSettled ? item.at : null };
}

/** `known` with what `told` adds: a new decision, or what came of the newest one of its number. */
export function withLend(known: readonly LendDecision[], told: LendDecision): readonly LendDecision[] {
  const index = known.findLastIndex((one) => one.attempt === told.attempt && one.decision === told.decision);
  const before = known[index];
  // A driver that goes back to its checkpoint counts its decisions anew: only what settles one refers to an older item.
  if (!before || told.settled_at === null) return [...known, told];
  const { settled_at, realised_gain_seconds } = told;
  return known.with(index, { ...before, settled_at, realised_gain_seconds });
}

/** The decision that sent `lane` to generate at `time`: the newest one made before. */
export function decisionBehind(lends: readonly LendDecision[], lane: string, time: number): LendDecision | undefined {
  return lends.findLast((one) => one.at <= time && one.lanes.includes(lane));
}
