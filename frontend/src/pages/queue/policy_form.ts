/** The policy of a pool as a form has it: what was changed, whether it can be tried, and what it would change. */

import type { PolicyToSet, PoolPolicy, PoolShare, QueuedRun, ShareToTry } from "../../api/schema.ts";
import { unixSeconds } from "../../base/format.ts";

/** A project's share, as typed. */
export interface ShareEntry {
  readonly guaranteed: string;
  readonly limit: string;
  readonly weight: string;
}

export interface PolicyEntries {
  readonly halfLifeHours: string;
  readonly reclaimSeconds: string;
  readonly idleWarningMinutes: string;
  /** Empty: never. */
  readonly idleReleaseMinutes: string;
  readonly shares: Readonly<Record<string, ShareEntry>>;
}

export function entriesOf(shares: readonly PoolShare[], policy: PoolPolicy): PolicyEntries {
  return {
    halfLifeHours: String(policy.half_life_hours),
    reclaimSeconds: String(policy.reclaim_seconds),
    idleWarningMinutes: String(policy.idle_warning_minutes),
    idleReleaseMinutes: policy.idle_release_minutes === null ? "" : String(policy.idle_release_minutes),
    shares: Object.fromEntries(
      shares.map((share) => [
        share.project_id,
        {
          guaranteed: String(share.guaranteed_lanes),
          limit: share.max_lanes === null ? "" : String(share.max_lanes),
          weight: String(share.weight),
        },
      ]),
    ),
  };
}

/** The shares that differ from those that hold, as REST takes them. */
export function changedShares(entries: PolicyEntries, shares: readonly PoolShare[]): ShareToTry[] {
  return shares.flatMap((share) => {
    const entry = entries.shares[share.project_id];
    if (entry === undefined) return [];
    const tried: ShareToTry = {
      project: share.project_id,
      guaranteed_lanes: Number(entry.guaranteed),
      max_lanes: entry.limit.trim() === "" ? null : Number(entry.limit),
      weight: Number(entry.weight),
    };
    const isSame =
      tried.guaranteed_lanes === share.guaranteed_lanes &&
      tried.max_lanes === share.max_lanes &&
      tried.weight === share.weight;
    return isSame ? [] : [tried];
  });
}

/** The settings that differ from those that hold, as REST takes them. */
export function changedSettings(entries: PolicyEntries, policy: PoolPolicy): PolicyToSet {
  const released = entries.idleReleaseMinutes.trim();
  const typed = {
    half_life_hours: Number(entries.halfLifeHours),
    reclaim_seconds: Number(entries.reclaimSeconds),
    idle_warning_minutes: Number(entries.idleWarningMinutes),
    idle_release_minutes: released === "" ? null : Number(released),
  };
  return Object.fromEntries(
    Object.entries(typed).filter(([name, value]) => value !== policy[name as keyof typeof typed]),
  );
}

/** What a policy would change for a run that waits. */
export interface QueueChange {
  readonly name: string;
  readonly before: string;
  readonly after: string;
  /** Seconds by which it would start later, or sooner if negative; null where one of the two is unknown. */
  readonly seconds: number | null;
}

/** The runs whose place or start would be another. Starts that differ by less than a minute count as the same. */
export function queueChanges(now: readonly QueuedRun[], then: readonly QueuedRun[]): QueueChange[] {
  const before = new Map(now.map((row) => [row.run_id, row]));
  return then.flatMap((row) => {
    const was = before.get(row.run_id);
    if (was === undefined || row.run_id === null) return [];
    const [from, to] = [unixSeconds(was.starts?.likely), unixSeconds(row.starts?.likely)];
    const seconds = from === null || to === null ? null : Math.round(to - from);
    if (was.position === row.position && Math.abs(seconds ?? 0) < 60) return [];
    return [{ name: row.run_name, before: placeText(was), after: placeText(row), seconds }];
  });
}

function placeText({ position }: QueuedRun): string {
  return position === null ? "stopped by its limit" : `place ${position + 1}`;
}
