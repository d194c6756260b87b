/** A growing list of stream items of some types: the event log, and the engine's log lines. */

import { signal } from "@preact/signals";
import { type BulkItemType, bulkItemTypeValues, type LogItem, type StreamItem } from "../api/schema.ts";
import { SequenceGate } from "./sequence_gate.ts";

/** An item of the event log; those that come in bulk are drawn elsewhere. */
export type EventItem = Exclude<StreamItem, { readonly type: BulkItemType }>;

const BULK: ReadonlySet<string> = new Set(bulkItemTypeValues);

export const isEvent = (item: StreamItem): item is EventItem => !BULK.has(item.type);
export const isLog = (item: StreamItem): item is LogItem => item.type === "log";

/** Older items are dropped from the page beyond this many; REST still has them. */
const MAX_KEPT = 5000;

export class ItemList<Item extends StreamItem> {
  readonly gate = new SequenceGate();
  readonly items = signal<readonly Item[]>([]);
  private arrived: Item[] = [];

  constructor(private readonly isWanted: (item: StreamItem) => item is Item) {}

  /** Load a REST answer known to hold every wanted item up to `covered`; it may hold later items too. */
  load(items: readonly StreamItem[], covered: number): void {
    const sorted = items.filter(this.isWanted).sort((a, b) => a.stream_seq - b.stream_seq);
    this.arrived = [];
    this.items.value = sorted.slice(-MAX_KEPT);
    this.gate.cover(Math.max(covered, sorted.at(-1)?.stream_seq ?? 0));
  }

  apply(item: StreamItem): void {
    if (this.isWanted(item) && this.gate.admit(item.stream_seq)) this.arrived.push(item);
  }

  /** Show what `apply` collected since the last frame. */
  flush(): void {
    if (this.arrived.length === 0) return;
    this.items.value = [...this.items.value, ...this.arrived].slice(-MAX_KEPT);
    this.arrived = [];
  }
}
