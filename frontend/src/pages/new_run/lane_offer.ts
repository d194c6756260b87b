/** The lanes of a pool as the form offers them: which are free, and how many a spec asks for by role. A spec says how many
 * lanes of which pool, and never which: dispatch chooses them when the run starts. Pure. */

import type { LaneKind, PoolLane, PoolNode } from "../../api/schema.ts";
import { getPath, type JsonObject } from "../../base/paths.ts";

export type Role = "rollout" | "trainer" | "reward";
export const ROLES: readonly Role[] = ["rollout", "trainer", "reward"];
/** Trainer lanes are chosen first, since they belong together. */
const ORDER: readonly Role[] = ["trainer", "rollout", "reward"];
/** A run has at least so many; 0 rollout lanes are possible where trainer lanes generate, too. */
const FEWEST: Readonly<Record<Role, number>> = { rollout: 0, trainer: 1, reward: 1 };

export interface AskedLanes {
  readonly pool: string;
  readonly numbers: Readonly<Record<Role, number>>;
  readonly rewardsOnGpus: boolean;
}

export const pathOf = (role: Role): string => `lanes.num_${role}`;

/** What a spec with all its fields asks for; a number that is not typed yet counts as none. */
export function askedLanes(spec: JsonObject): AskedLanes {
  const number = (role: Role) => Math.max(0, Math.trunc(Number(getPath(spec, pathOf(role)) ?? 0)) || 0);
  return {
    pool: String(getPath(spec, "lanes.pool") ?? ""),
    numbers: { rollout: number("rollout"), trainer: number("trainer"), reward: number("reward") },
    rewardsOnGpus: getPath(spec, "lanes.rewards_on") === "own_gpu",
  };
}

/** The nodes with lanes of the pool, each with these alone. */
export function nodesOf(nodes: readonly PoolNode[], pool: string): PoolNode[] {
  return nodes
    .map((node) => ({ ...node, lanes: node.lanes.filter((lane) => lane.pool === pool) }))
    .filter((node) => node.lanes.length > 0);
}

export function isFree(lane: PoolLane): boolean {
  return lane.state === "available" && lane.takes_work && lane.held_since === null;
}

/** The kind of lane for a role, as dispatch has it (`fleet.lane_demand.kind_for`). */
export function kindFor(role: Role, lanes: readonly PoolLane[], rewardsOnGpus: boolean): LaneKind {
  const hasGpus = lanes.some(({ kind }) => kind === "gpu");
  return hasGpus && (role !== "reward" || rewardsOnGpus) ? "gpu" : "cpu";
}

export interface KindCount {
  readonly kind: LaneKind;
  readonly asked: number;
  readonly free: number;
  readonly all: number;
}

/** Lanes asked for, free, and in the pool, of each kind of which some are asked for. */
export function countKinds(lanes: readonly PoolLane[], asked: AskedLanes): KindCount[] {
  const wanted = new Map<LaneKind, number>();
  for (const role of ROLES) {
    const kind = kindFor(role, lanes, asked.rewardsOnGpus);
    wanted.set(kind, (wanted.get(kind) ?? 0) + asked.numbers[role]);
  }
  return [...wanted]
    .filter(([, number]) => number > 0)
    .map(([kind, number]) => {
      const alike = lanes.filter((lane) => lane.kind === kind);
      return { kind, asked: number, free: alike.filter(isFree).length, all: alike.length };
    });
}

/** The role for which each free lane is counted, by its id: the first ones of the kind, until none is left. */
export function counted(lanes: readonly PoolLane[], asked: AskedLanes): Map<number, Role> {
  const free = lanes.filter(isFree);
  const found = new Map<number, Role>();
  for (const role of ORDER) {
    const kind = kindFor(role, lanes, asked.rewardsOnGpus);
    const left = free.filter((lane) => lane.kind === kind && !found.has(lane.id));
    for (const lane of left.slice(0, asked.numbers[role])) found.set(lane.id, role);
  }
  return found;
}

/** The number of lanes of a role once a free lane is pressed: one more of the role chosen, or one less of the role that it
 * is counted for. Null where the lane is of no use to the role. */
export function afterPress(
  lane: PoolLane,
  role: Role,
  lanes: readonly PoolLane[],
  asked: AskedLanes,
): { readonly role: Role; readonly number: number } | null {
  if (!isFree(lane)) return null;
  const taken = counted(lanes, asked).get(lane.id);
  if (taken !== undefined) return { role: taken, number: Math.max(FEWEST[taken], asked.numbers[taken] - 1) };
  if (kindFor(role, lanes, asked.rewardsOnGpus) !== lane.kind) return null;
  return { role, number: asked.numbers[role] + 1 };
}
