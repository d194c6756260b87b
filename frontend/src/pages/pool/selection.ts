/** Which nodes, GPUs and lanes are selected, and what that means to the inspector and to actions. */

import type { PoolActions, PoolGpu, PoolLane, PoolNode } from "../../api/schema.ts";
import { byModel, cpuLanes, gpuKey, type Key, laneKey, nodeKey } from "./cells.ts";

export type Selection = ReadonlySet<Key>;
export const NOTHING: Selection = new Set();

/** The keys of a node, in the order in which it is drawn: itself, its GPUs, its CPU lanes. */
export function keysOf(node: PoolNode): Key[] {
  return [nodeKey(node), ...byModel(node).flatMap(({ gpus }) => gpus.map(gpuKey)), ...cpuLanes(node).map(laneKey)];
}

export interface Modifiers {
  /** Adds or removes one: Ctrl, Cmd, the space bar. */
  readonly toggles: boolean;
  /** Adds all from the one before: Shift. */
  readonly extends: boolean;
}

/** The selection after a click on `key`. `anchor` is the one clicked before, `order` all keys as they are drawn; a
 * stretch holds GPUs and lanes only, unless a node's own name was clicked. */
export function afterClick(
  selection: Selection,
  key: Key,
  { toggles, extends: stretches }: Modifiers,
  anchor: Key | null,
  order: readonly Key[],
): Selection {
  const [from, to] = [anchor === null ? -1 : order.indexOf(anchor), order.indexOf(key)];
  if (stretches && from >= 0 && to >= 0) {
    const isNode = key.startsWith("node:");
    const between = order.slice(Math.min(from, to), Math.max(from, to) + 1);
    return new Set([...selection, ...between.filter((one) => one.startsWith("node:") === isNode)]);
  }
  if (!toggles) return new Set([key]);
  const next = new Set(selection);
  if (!next.delete(key)) next.add(key);
  return next;
}

export interface Selected {
  readonly nodes: readonly PoolNode[];
  readonly gpus: readonly { readonly node: PoolNode; readonly gpu: PoolGpu }[];
  readonly lanes: readonly { readonly node: PoolNode; readonly lane: PoolLane }[];
}

/** The rows of a selection; what has left the pool is left out. */
export function selectedRows(selection: Selection, nodes: readonly PoolNode[]): Selected {
  const of = <T>(node: PoolNode, rows: readonly T[], key: (row: T) => Key) =>
    rows.filter((row) => selection.has(key(row))).map((row) => ({ node, row }));
  return {
    nodes: nodes.filter((node) => selection.has(nodeKey(node))),
    gpus: nodes.flatMap((node) => of(node, node.gpus, gpuKey).map(({ row }) => ({ node, gpu: row }))),
    lanes: nodes.flatMap((node) => of(node, node.lanes, laneKey).map(({ row }) => ({ node, lane: row }))),
  };
}

export const numSelected = ({ nodes, gpus, lanes }: Selected) => nodes.length + gpus.length + lanes.length;

/** The ids that an action is sent with. */
export function targetsOf({ nodes, gpus, lanes }: Selected): Pick<PoolActions, "nodes" | "gpus" | "lanes"> {
  return {
    nodes: nodes.map(({ id }) => id),
    gpus: gpus.map(({ gpu }) => gpu.id),
    lanes: lanes.map(({ lane }) => lane.id),
  };
}

/** "3 GPUs and 1 CPU lane" */
export function countText({ nodes, gpus, lanes }: Selected): string {
  const parts = [
    [nodes.length, "node"],
    [gpus.length, "GPU"],
    [lanes.length, "lane"],
  ] as const;
  return parts
    .filter(([number]) => number > 0)
    .map(([number, what]) => `${number} ${what}${number === 1 ? "" : "s"}`)
    .join(" and ");
}
