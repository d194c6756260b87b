/** A growing list of the run's events, for panels that look for some of them. */

import { signal } from "@preact/signals";
import { type BulkItemType, bulkItemTypeValues, type StreamItem } from "../api/schema.ts";
import { SequenceGate } from "./sequence_gate.ts";

/** Types of the items that panels look for one by one. The others change what is read over REST, and of a day's run
 * there are far too many to keep. */
export const PANEL_TYPES = [
  "lane_stall",
  "lane_start",
  "out_of_memory",
  "resumed",
  "reward_hacking",
  "slow_lanes",
] as const;
export type PanelItem = Extract<StreamItem, { readonly type: (typeof PANEL_TYPES)[number] }>;

/** An item that does not come in bulk. */
type EventItem = Exclude<StreamItem, { readonly type: BulkItemType }>;

const BULK: ReadonlySet<string> = new Set(bulkItemTypeValues);

const FOR_PANELS: ReadonlySet<string> = new Set(PANEL_TYPES);

export const isForPanels = (item: StreamItem): item is PanelItem => FOR_PANELS.has(item.type);
const isEvent = (item: StreamItem): item is EventItem => !BULK.has(item.type);
/** Whether the run's log tells of the item. */
export const isLogged = (item: StreamItem) => isEvent(item) || item.type === "log" || item.type === "lend";

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
