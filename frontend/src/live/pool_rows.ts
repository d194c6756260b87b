/** The pool's rows as the page knows them: read over REST, with the live values that frames bring. */

import type { GpuLive, LiveValues, PoolChangedFrame, PoolGpu, PoolNode } from "../api/schema.ts";
import { unixSeconds } from "../base/format.ts";

type Values = Readonly<Record<string, number | null>>;

/** A frame's live values, by id. */
export interface LiveRows {
  /** When they were reported, as REST writes times. */
  readonly at: string;
  readonly alive: ReadonlySet<number>;
  readonly nodes: ReadonlyMap<number, Values>;
  readonly gpus: ReadonlyMap<number, Values>;
}

/** Null for a frame without any. */
export function liveRows({ reported_at, alive, nodes, gpus }: PoolChangedFrame): LiveRows | null {
  if (reported_at === null || alive.length + nodes.ids.length + gpus.ids.length === 0) return null;
  const at = new Date(reported_at * 1000).toISOString();
  return { at, alive: new Set(alive), nodes: byId(nodes), gpus: byId(gpus) };
}

function byId({ ids, values }: LiveValues): Map<number, Values> {
  const columns = Object.entries(values);
  const row = (at: number) => Object.fromEntries(columns.map(([name, column]) => [name, column[at] ?? null]));
  return new Map(ids.map((id, at) => [id, row(at)]));
}

/** The nodes with live values in those from `first` on, at most `number` of them. Nodes that they do not concern are the
 * same objects as before. */
export function withLive(
  nodes: readonly PoolNode[],
  live: LiveRows,
  first = 0,
  number = nodes.length,
): readonly PoolNode[] {
  return nodes.map((node, index) => (index < first || index >= first + number ? node : nodeWithLive(node, live)));
}

function nodeWithLive(node: PoolNode, { at, alive, nodes, gpus }: LiveRows): PoolNode {
  const values = nodes.get(node.id);
  const hasGpus = node.gpus.some(({ id }) => gpus.has(id));
  if (!hasGpus && values === undefined && !alive.has(node.id)) return node;
  const gpuWithLive = (gpu: PoolGpu): PoolGpu => {
    const row = gpus.get(gpu.id);
    // The columns are the fields of `GpuLive`.
    return row === undefined ? gpu : { ...gpu, live: row as unknown as GpuLive, reported_at: at };
  };
  return {
    ...node,
    ...(values === undefined ? {} : { ...values, reported_at: at }),
    gpus: hasGpus ? node.gpus.map(gpuWithLive) : node.gpus,
    in_cluster_at: alive.has(node.id) ? at : node.in_cluster_at,
  };
}

/** The nodes with those of a REST answer in their place. `asked` are the ids that were asked for, null for all: those
 * that did not come are gone. Live values that a frame brought meanwhile stay. */
export function withRead(
  nodes: readonly PoolNode[],
  read: readonly PoolNode[],
  asked: ReadonlySet<number> | null,
): readonly PoolNode[] {
  const known = new Map(nodes.map((node) => [node.id, node]));
  const fresh = read.map((node) => keepNewer(node, known.get(node.id)));
  const kept = asked === null ? [] : nodes.filter(({ id }) => !asked.has(id));
  return [...kept, ...fresh].sort((one, other) => BY_NAME.compare(one.name, other.name));
}

/** Puts gpu2 before gpu10. */
const BY_NAME = new Intl.Collator("en", { numeric: true });

const isNewer = (one: string | null, other: string | null) => (unixSeconds(one) ?? 0) > (unixSeconds(other) ?? 0);

function keepNewer(read: PoolNode, known: PoolNode | undefined): PoolNode {
  if (known === undefined) return read;
  const gpus = new Map(known.gpus.map((gpu) => [gpu.id, gpu]));
  return {
    ...read,
    gpus: read.gpus.map((gpu) => {
      const before = gpus.get(gpu.id);
      if (before === undefined || !isNewer(before.reported_at, gpu.reported_at)) return gpu;
      return { ...gpu, live: before.live, reported_at: before.reported_at };
    }),
  };
}
