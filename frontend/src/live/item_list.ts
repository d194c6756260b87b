/** A growing list of stream items of some types: the event log, and the engine's log lines. */

import { signal } from "@preact/signals";
import type { StreamItem } from "../api/types.ts";
import { SequenceGate } from "./sequence_gate.ts";

/** Types too frequent to read as an event log; their content is drawn elsewhere. */
const DRAWN_ELSEWHERE = new Set(["metrics", "spans", "queues", "staleness", "lend", "costs", "log"]);

export const isEvent = (item: StreamItem) => !DRAWN_ELSEWHERE.has(item.type);
export const isLog = (item: StreamItem) => item.type === "log";

/** Older items are let go from the page beyond this many; REST still has them. */
const MAX_KEPT = 5000;

export class ItemList {
  readonly gate = new SequenceGate();
  readonly items = signal<readonly StreamItem[]>([]);
  private arrived: StreamItem[] = [];

  constructor(private readonly wanted: (item: StreamItem) => boolean) {}

  /** Take over a REST answer known to hold everything wanted up to `covered`; it may hold later items too. */
  load(items: readonly StreamItem[], covered: number): void {
    const sorted = items.filter(this.wanted).sort((a, b) => a.stream_seq - b.stream_seq);
    this.arrived = [];
    this.items.value = sorted.slice(-MAX_KEPT);
    this.gate.cover(Math.max(covered, sorted.at(-1)?.stream_seq ?? 0));
  }

  apply(item: StreamItem): void {
    if (this.wanted(item) && this.gate.admit(item.stream_seq)) this.arrived.push(item);
  }

  /** Show what `apply` collected since the last frame. */
  flush(): void {
    if (this.arrived.length === 0) return;
    this.items.value = [...this.items.value, ...this.arrived].slice(-MAX_KEPT);
    this.arrived = [];
  }
}
