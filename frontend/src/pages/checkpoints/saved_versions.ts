/** What a run saved, one row for each version: the resumable checkpoint, the weights for use elsewhere, or both. */

import type { Adapter, SavedCheckpoint } from "../../api/schema.ts";

export interface SavedVersion {
  readonly key: string;
  readonly attempt: number;
  readonly batch: number;
  readonly policyVersion: number;
  /** Unix seconds at which the newest part of it was saved. */
  readonly savedAt: number;
  readonly checkpoint: SavedCheckpoint | null;
  readonly adapter: Adapter | null;
}

/** The newest first. What two attempts saved of one version are two rows: their weights may differ. */
export function savedVersions(
  checkpoints: readonly SavedCheckpoint[],
  adapters: readonly Adapter[],
): readonly SavedVersion[] {
  const byKey = new Map<string, SavedVersion>();
  const join = (part: SavedCheckpoint | Adapter, parts: Partial<Pick<SavedVersion, "checkpoint" | "adapter">>) => {
    const { attempt, batch, policy_version: policyVersion } = part;
    const key = `${attempt}/${policyVersion}`;
    const known = byKey.get(key) ?? { key, attempt, batch, policyVersion, savedAt: 0, checkpoint: null, adapter: null };
    byKey.set(key, { ...known, ...parts, savedAt: Math.max(known.savedAt, part.created_at) });
  };
  for (const checkpoint of checkpoints) join(checkpoint, { checkpoint });
  for (const adapter of adapters) join(adapter, { adapter });
  return [...byKey.values()].sort((one, other) => other.attempt - one.attempt || other.batch - one.batch);
}

/** The version with the highest held-out reward; null unless there are two to compare. */
export function bestVersion(
  versions: readonly SavedVersion[],
  heldOut: (version: SavedVersion) => number | undefined,
): SavedVersion | null {
  const judged = versions.flatMap((version) => {
    const reward = heldOut(version);
    return reward === undefined ? [] : [{ version, reward }];
  });
  if (judged.length < 2) return null;
  return judged.reduce((best, each) => (each.reward > best.reward ? each : best)).version;
}

/** The address of the form for a run that begins from a checkpoint. */
export const forkAddress = (runId: string, checkpoint: SavedCheckpoint) =>
  `/runs/new?from=${runId}&checkpoint=${checkpoint.id}`;
