/** Which pools the map's lanes are in, and the nodes as one pool has them. */

import type { PoolNode } from "../../api/schema.ts";
import { laneOf } from "./cells.ts";

/** Every lane, whatever its pool. */
export const ALL_POOLS = "";
const DEFAULT_POOL = "default";

/** Pools that have lanes here, by name, `default` last. */
export function poolNames(nodes: readonly PoolNode[]): string[] {
  const names = new Set(nodes.flatMap((node) => node.lanes.map((lane) => lane.pool)));
  const rank = (name: string) => Number(name === DEFAULT_POOL);
  return [...names].sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
}

/** Nodes as one pool has them, kept while the node stays the same, so that a map draws only what has changed. */
const parts = new WeakMap<PoolNode, { readonly pool: string; readonly part: PoolNode }>();

/** The nodes that have lanes in the pool, each with those lanes and their GPUs only. */
export function nodesInPool(nodes: readonly PoolNode[], pool: string): readonly PoolNode[] {
  if (pool === ALL_POOLS) return nodes;
  return nodes.map((node) => partOf(node, pool)).filter(({ lanes }) => lanes.length > 0);
}

function partOf(node: PoolNode, pool: string): PoolNode {
  const known = parts.get(node);
  if (known?.pool === pool) return known.part;
  const lanes = node.lanes.filter((lane) => lane.pool === pool);
  const gpus = node.gpus.filter((gpu) => laneOf(node, gpu)?.pool === pool);
  const num_held = lanes.filter(({ held_since }) => held_since !== null).length;
  const part = { ...node, lanes, gpus, num_lanes: lanes.length, num_held };
  parts.set(node, { pool, part });
  return part;
}

/** "fast 8, default 4": how many lanes of a node are in which pool. */
export function poolsText(node: PoolNode): string {
  const count = (pool: string) => node.lanes.filter((lane) => lane.pool === pool).length;
  const names = poolNames([node]);
  return names.length === 1 ? (names[0] ?? "") : names.map((pool) => `${pool} ${count(pool)}`).join(", ");
}
