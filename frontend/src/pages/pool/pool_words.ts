/** Sentences of the pool page. Reachable, schedulable and healthy are three things, and each is said by itself. */

import type { GpuFaults, PoolGpu, PoolLane, PoolNode, PoolState } from "../../api/schema.ts";
import { ago, clock, spelt, unixSeconds } from "../../base/format.ts";
import { type Colouring, isLeaving, memoryShare } from "./cells.ts";

/** A node reports every 3 s; what three reports in a row have not renewed is called old. */
export const STALE_AFTER_SECONDS = 10;

export type Tone = "good" | "warn" | "bad" | "unknown";

export interface Verdict {
  readonly tone: Tone;
  /** One word: yes, no, unknown. */
  readonly answer: string;
  readonly text: string;
}

/** "2 s ago": to the second in the first minute. */
export function ageText(seconds: number): string {
  return seconds < 1 ? "now" : seconds < 60 ? `${Math.floor(seconds)} s ago` : ago(seconds);
}

/** Seconds since an ISO time; null where there is none. */
export function ageOf(time: string | null, now: number): number | null {
  const at = unixSeconds(time);
  return at === null ? null : Math.max(0, now - at);
}

export function isStale(time: string | null, now: number): boolean {
  const age = ageOf(time, now);
  return age === null || age > STALE_AFTER_SECONDS;
}

function lostText(what: string, since: string | null, reason: string): string {
  return `${what} has been lost since ${clock(unixSeconds(since))}: ${reason}`;
}

/** Whether Ray and the node's watcher reach it. */
export function reachable(node: PoolNode, now: number, gpu?: PoolGpu): Verdict {
  if (node.state === "lost") return { tone: "bad", answer: "no", text: lostText("The node", node.since, node.reason) };
  if (gpu?.state === "lost") return { tone: "bad", answer: "no", text: lostText("The GPU", gpu.since, gpu.reason) };
  const [inCluster, heard] = [ageOf(node.in_cluster_at, now), ageOf(gpu?.reported_at ?? node.reported_at, now)];
  if (inCluster === null && heard === null) {
    return { tone: "unknown", answer: "unknown", text: "No agent has reported this node yet." };
  }
  const ray = inCluster === null ? "" : `Ray counted the node as alive ${ageText(inCluster)}`;
  if (inCluster !== null && inCluster > STALE_AFTER_SECONDS) {
    return { tone: "warn", answer: "unknown", text: `${ray}, and nothing was heard since: the node agent is silent.` };
  }
  if (heard === null) return { tone: "warn", answer: "by Ray", text: `${ray}; its own watcher has not reported yet.` };
  const watcher = `its watcher was heard ${ageText(heard)}`;
  if (heard > STALE_AFTER_SECONDS) {
    return { tone: "warn", answer: "by Ray", text: `${ray}, but ${watcher}: the values below are old.` };
  }
  return { tone: "good", answer: "yes", text: `${ray}; ${watcher}.` };
}

type Standing = Pick<PoolGpu, "state" | "state_when_free" | "place" | "reason" | "changed_by" | "since" | "until">;

/** `awaiting_test` as people write it. */
export const stateText = (state: PoolState) => spelt(state);

/** Of states that are no adjectives. */
const PREDICATES: Partial<Record<PoolState, string>> = {
  maintenance: "is in maintenance",
  awaiting_test: "waits for its test",
};

/** "Node gpu2 is draining by alice since 14:02 until 16:00: new cables." */
function decisionText(state: PoolState, decided: Omit<Standing, "state" | "state_when_free">): string {
  const { place, reason, changed_by, since, until } = decided;
  const parts = [
    `${place ? place.charAt(0).toUpperCase() + place.slice(1) : "It"} ${PREDICATES[state] ?? `is ${state}`}`,
    changed_by && ` by ${changed_by}`,
    since !== null && ` since ${clock(unixSeconds(since), false)}`,
    until !== null && ` until ${clock(unixSeconds(until), false)}`,
    reason && `: ${reason}`,
  ];
  return `${parts.filter(Boolean).join("")}.`;
}

/** Whether it takes work. */
export function schedulable(standing: Standing): Verdict {
  const { state, state_when_free: next } = standing;
  if (state === "available") return { tone: "good", answer: "yes", text: "Free, and takes work." };
  if (state === "lost") return { tone: "bad", answer: "no", text: "What is lost takes no work until it is found." };
  if (state !== "allocated") {
    return { tone: state === "faulty" ? "bad" : "warn", answer: "no", text: decisionText(state, standing) };
  }
  if (next === "available") return { tone: "good", answer: "held", text: "Held by a run; takes work once it is free." };
  return { tone: "warn", answer: "held", text: `Held by a run, and takes no other. ${decisionText(next, standing)}` };
}

/** The same of a node, whose lanes are what is held. */
export function nodeSchedulable(node: PoolNode): Verdict {
  const held = `${node.num_held} of ${node.num_lanes} lanes are held`;
  if (node.state === "available") return { tone: "good", answer: "yes", text: `Takes work; ${held}.` };
  if (node.state === "lost")
    return { tone: "bad", answer: "no", text: "What is lost takes no work until it is found." };
  const progress = node.is_drained
    ? "No run is left on it."
    : `${held}${node.state === "draining" ? ": not drained yet" : ""}.`;
  return { tone: "warn", answer: "no", text: `${decisionText(node.state, node)} ${progress}` };
}

/** What its driver has counted of a GPU, each as a clause. Much of it is no fault: see its health. */
export function counterTexts(faults: GpuFaults | null): string[] {
  if (faults === null) return [];
  const counts: readonly (readonly [number | null, string])[] = [
    [faults.ecc_uncorrected, "uncorrectable ECC errors"],
    [faults.ecc_corrected, "corrected ECC errors"],
    [faults.remapped_rows, "remapped rows of memory"],
    [faults.retired_pages, "retired pages of memory"],
    [faults.nvlink_errors, "NVLink errors"],
    [faults.pcie_replays, "PCIe replays"],
  ];
  return [
    ...Object.entries(faults.xids).map(([code, times]) => `Xid ${code}, ${times === 1 ? "once" : `${times} times`}`),
    ...counts.filter(([number]) => (number ?? 0) > 0).map(([number, what]) => `${number} ${what}`),
    ...faults.throttle_reasons.map((reason) => `clocks held back now: ${reason}`),
  ];
}

/** What is known of a GPU's health, with the remedy that its vendor recommends. */
export function healthy(node: PoolNode, gpu: PoolGpu, now: number): Verdict {
  if (node.reader_error) {
    return { tone: "bad", answer: "unknown", text: `The GPUs could not be read: ${node.reader_error}` };
  }
  if (gpu.faults === null) return { tone: "unknown", answer: "unknown", text: "Its driver has not been asked yet." };
  const age = ageOf(gpu.reported_at, now);
  const asOf = isStale(gpu.reported_at, now) && age !== null ? `, as of ${ageText(age)}` : "";
  if (gpu.health === "healthy") return { tone: "good", answer: "yes", text: `Its driver counts no fault${asOf}.` };
  const remedy = gpu.remedy === "none" ? "" : ` Recommended: ${gpu.remedy}.`;
  const since = clock(unixSeconds(gpu.health_since), false);
  const text = `Since ${since}: ${gpu.health_causes.join("; ")}${asOf}.${remedy}`;
  return gpu.health === "failed"
    ? { tone: "bad", answer: "no", text }
    : { tone: "warn", answer: "with a warning", text };
}

/** The same of all GPUs of a node. */
export function nodeHealthy(node: PoolNode): Verdict {
  if (node.reader_error) {
    return { tone: "bad", answer: "unknown", text: `The GPUs could not be read: ${node.reader_error}` };
  }
  if (node.gpus.length === 0) return { tone: "unknown", answer: "–", text: "It has no GPU whose faults are counted." };
  if (node.gpus.every(({ faults }) => faults === null)) {
    return { tone: "unknown", answer: "unknown", text: "No driver has been asked yet." };
  }
  const of = (health: PoolGpu["health"]) =>
    node.gpus.filter((gpu) => gpu.health === health).map(({ index }) => `GPU ${index}`);
  const [failed, warned] = [of("failed"), of("warning")];
  if (failed.length > 0) return { tone: "bad", answer: "no", text: `Failed: ${failed.join(", ")}.` };
  if (warned.length > 0) return { tone: "warn", answer: "with a warning", text: `Warned of: ${warned.join(", ")}.` };
  return { tone: "good", answer: "yes", text: "The drivers count no fault." };
}

/** "allocated, then draining" */
function heldText(row: Pick<PoolLane, "state" | "state_when_free">): string {
  return isLeaving(row) ? `allocated, then ${stateText(row.state_when_free)}` : stateText(row.state);
}

/** What a screen reader hears at a cell: its value, too, where that colours it. */
export function gpuLabel(node: PoolNode, gpu: PoolGpu, colouring: Colouring): string {
  const health = gpu.health === "healthy" ? "" : `, ${gpu.health}`;
  const share = colouring === "memory" ? memoryShare(gpu) : (gpu.live?.utilisation ?? null);
  const what = colouring === "memory" ? "of its memory used" : "utilisation";
  const value = colouring === "state" || share === null ? "" : `, ${Math.round(share * 100)} % ${what}`;
  return `GPU ${gpu.index}, ${heldText(gpu)}${health}${value}, ${node.name}`;
}

export function laneLabel(lane: PoolLane): string {
  return `Lane ${lane.label}, ${heldText(lane)}`;
}

export function nodeStateText(node: PoolNode): string {
  return node.is_drained ? "drained" : stateText(node.state);
}

export function nodeLabel(node: PoolNode): string {
  const gpus = node.gpus.length > 0 ? `${node.gpus.length} GPUs, ` : "";
  return `Node ${node.name}, ${nodeStateText(node)}, ${gpus}${node.num_held} of ${node.num_lanes} lanes held`;
}

/** What each state means, for the legend. */
export const STATE_WORDS: Readonly<Record<PoolState, string>> = {
  available: "free, and takes work",
  allocated: "held by a run or a preview; hatched while it idles",
  cordoned: "keeps its runs and takes no new work",
  draining: "takes no new work; drained once its last run has ended",
  maintenance: "somebody works on it; its GPUs are tested afterwards",
  awaiting_test: "takes work again once a test has passed",
  faulty: "its readings or its test say that it fails",
  lost: "Ray or the driver does not reach it",
};
