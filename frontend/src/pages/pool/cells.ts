/** What the map shows of each GPU and each CPU lane, and in which colour. */

import type { PoolGpu, PoolLane, PoolNode, PoolState } from "../../api/schema.ts";

export type Colouring = "state" | "utilisation" | "memory";

/** A kernel ran in less than this share of the last sampling period: the GPU idles. Drivers round to a hundredth. */
const IDLE_BELOW = 0.01;

/** A node, a GPU or a lane: `gpu:5`. */
export type Key = `${"node" | "gpu" | "lane"}:${number}`;

export const nodeKey = (node: PoolNode): Key => `node:${node.id}`;
export const gpuKey = (gpu: PoolGpu): Key => `gpu:${gpu.id}`;
export const laneKey = (lane: PoolLane): Key => `lane:${lane.id}`;

export interface GpuGroup {
  readonly model: string;
  readonly gpus: readonly PoolGpu[];
}

/** The GPUs of a node by model, in the order of the first of each. */
export function byModel(node: PoolNode): GpuGroup[] {
  const groups = new Map<string, PoolGpu[]>();
  for (const gpu of node.gpus) groups.set(gpu.accelerator, [...(groups.get(gpu.accelerator) ?? []), gpu]);
  return [...groups].map(([model, gpus]) => ({ model, gpus }));
}

export function cpuLanes(node: PoolNode): PoolLane[] {
  return node.lanes.filter(({ kind }) => kind === "cpu");
}

/** The lane that a GPU works for. */
export function laneOf(node: PoolNode, gpu: PoolGpu): PoolLane | undefined {
  return node.lanes.find(({ label }) => gpu.lane !== "" && label === gpu.lane);
}

/** Share of its memory that is used; null where it is not known. */
export function memoryShare({ live, identity }: PoolGpu): number | null {
  const [used, all] = [live?.memory_used_bytes ?? null, identity?.memory_bytes ?? null];
  return used === null || !all ? null : Math.min(1, used / all);
}

/** Values are drawn in steps of this many percent, so that a cell is painted anew only where the eye sees it. Each step
 * is a class of `heat.css`: cells of one step share a style, which the browser then works out once. */
const STEP = 5;

/** Whether it is held and takes no other work once it is free. */
export function isLeaving({ state, state_when_free: next }: Pick<PoolLane, "state" | "state_when_free">): boolean {
  return state === "allocated" && next !== "available";
}

const nextClass = (held: Parameters<typeof isLeaving>[0]) => (isLeaving(held) ? " then-kept-back" : "");

/** The classes of a GPU's cell. Hatched is one that is held and idles, or whose value is not known. */
export function shadeOf(gpu: PoolGpu, colouring: Colouring): string {
  const next = nextClass(gpu) + (gpu.health === "healthy" ? "" : ` health-${gpu.health}`);
  const utilisation = gpu.live?.utilisation ?? null;
  if (colouring === "state" || gpu.state === "lost") {
    const idles = gpu.state === "allocated" && utilisation !== null && utilisation < IDLE_BELOW;
    return `${gpu.state}${next}${idles ? " hatched" : ""}`;
  }
  const share = colouring === "utilisation" ? utilisation : memoryShare(gpu);
  if (share === null) return "unknown hatched";
  const idles = colouring === "utilisation" && share < IDLE_BELOW;
  return `valued percent-${Math.round((share * 100) / STEP) * STEP}${next}${idles ? " hatched" : ""}`;
}

/** The same of a CPU lane, of which no values are reported. */
export function laneShade(lane: PoolLane, colouring: Colouring): string {
  const next =
    lane.state === "allocated" && lane.state_when_free !== "available" ? ` then-${lane.state_when_free}` : "";
  return colouring === "state" || lane.state === "lost" ? `${lane.state}${next}` : "unknown hatched";
}

/** `NVIDIA H100 80GB HBM3` → `H100 80GB`: as much of a product name as tells cards apart in a narrow place. */
export function shortModel(model: string): string {
  const words = model.replace(/^(NVIDIA|AMD)\s+/i, "").replace(/^(GeForce|Instinct|Radeon|Tesla|Quadro)\s+/i, "");
  return words
    .split(/[\s-]+/)
    .filter((word) => !/^(HBM\d?e?|PCIe|SXM\d?|GPU|OAM)$/i.test(word))
    .join(" ");
}

/** How many GPUs, or CPU lanes where there is no GPU, are in each state. */
export function countsByState(nodes: readonly PoolNode[]): Map<PoolState, number> {
  const gpus = nodes.flatMap((node) => node.gpus);
  const counted: readonly { readonly state: PoolState }[] = gpus.length > 0 ? gpus : nodes.flatMap(cpuLanes);
  const counts = new Map<PoolState, number>();
  for (const { state } of counted) counts.set(state, (counts.get(state) ?? 0) + 1);
  return counts;
}

export type Density = "dense" | "medium" | "roomy";
/** The most GPUs of a pool whose cells are large, and of one whose cells are medium: with more, 1440 × 900 pixels show
 * them only as small ones. */
const [MOST_ROOMY, MOST_MEDIUM] = [48, 192];

export function densityOf(nodes: readonly PoolNode[]): Density {
  const number = nodes.reduce((sum, node) => sum + Math.max(node.gpus.length, cpuLanes(node).length / 2), 0);
  return number <= MOST_ROOMY ? "roomy" : number <= MOST_MEDIUM ? "medium" : "dense";
}
