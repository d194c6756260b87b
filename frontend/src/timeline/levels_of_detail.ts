/** A run's lane time at two levels: the whole run, of which the server merges short spans until a screen can show them,
 * and a window about what is on screen, as fine as that allows.
 *
 * Invariants: what is drawn is exact or the finest that was read; neither level grows without bound, since one that the
 * stream has added much to is read anew.
 */

import { messageOf } from "../api/client.ts";
import type { StreamItem, Timeline } from "../api/schema.ts";
import { HeldItems } from "../live/held_items.ts";
import { RecordedTime } from "./recorded_time.ts";
import type { Extent, View } from "./view.ts";

export interface TimelineAsked {
  readonly from?: number;
  readonly to?: number;
  readonly limit: number;
}
export type ReadTimeline = (asked: TimelineAsked) => Promise<Timeline>;

/** Spans asked for at either level: 64 lanes across 1,400 pixels have room for some 90 each that are 15 pixels wide. */
export const NUM_SPANS = 6000;
/** A level that has grown by so much is read anew. */
const MAX_ARRIVED = 6000;
/** How far a finer window reaches beyond either edge of the screen, as a share of its width: room to pan. */
const MARGIN = 0.5;
/** Below this share of the width that a level was read for, its spans are coarser than the screen. */
const COARSE_BELOW = 0.4;
/** After a read that failed, and between two of them while the window moves. */
const [RETRY_MILLISECONDS, SETTLED_MILLISECONDS] = [5000, 120];

/** What is on screen, and all that is recorded. */
interface Shown {
  readonly view: View;
  readonly extent: Extent;
}

interface Finer {
  /** `to` is infinite where it goes with the present. */
  readonly window: Extent;
  /** The width of the screen's window that it was read for. */
  readonly width: number;
  readonly recorded: RecordedTime;
}

export class LevelsOfDetail {
  readonly whole = new RecordedTime();
  private finer: Finer | null = null;
  private readonly held = new HeldItems();
  private wanted: Shown | null = null;
  /** Set from when a read is due until it is over. */
  private timer: ReturnType<typeof setTimeout> | undefined;
  private isStopped = false;

  /** `onRead` is called when another level can be drawn. */
  constructor(
    private readonly read: ReadTimeline | null,
    private readonly onRead: () => void,
  ) {}

  load(answer: Timeline): void {
    this.whole.load(answer);
    this.finer = null;
    this.isStopped = false;
  }

  apply(item: StreamItem): boolean {
    this.held.hold(item);
    const isChanged = this.whole.apply(item);
    const isFinerChanged = this.finer?.recorded.apply(item) ?? false;
    // One that is shown is read anew long before; one that is not would grow unseen.
    if (this.finer && this.finer.recorded.numArrived > 2 * MAX_ARRIVED) this.finer = null;
    if (this.whole.numArrived > MAX_ARRIVED) this.readSoon();
    return isChanged || isFinerChanged;
  }

  /** The finest level that has all of a window. */
  at(view: View | null): RecordedTime {
    return view && this.finer && covers(this.finer.window, view, this.whole.lanes.extent())
      ? this.finer.recorded
      : this.whole;
  }

  /** The screen shows `view`: read what it lacks, once it rests. */
  show(view: View, extent: Extent): void {
    this.wanted = { view, extent };
    if (this.isCoarse(this.wanted)) this.readSoon();
  }

  /** Read no more: the page goes. */
  stop(): void {
    clearTimeout(this.timer);
    this.isStopped = true;
  }

  private isCoarse({ view, extent }: Shown): boolean {
    const width = view.to - view.from;
    const shown = this.at(view);
    if (shown === this.whole) return this.whole.isMerged && width < (extent.to - extent.from) * COARSE_BELOW;
    const readFor = this.finer?.width ?? width;
    return shown.numArrived > MAX_ARRIVED || (shown.isMerged && width < readFor * COARSE_BELOW);
  }

  private readSoon(milliseconds = SETTLED_MILLISECONDS): void {
    if (!this.read || this.isStopped || this.timer !== undefined) return;
    this.timer = setTimeout(() => void this.readLacking(), milliseconds);
  }

  private async readLacking(): Promise<void> {
    let again: number | undefined;
    try {
      if (this.whole.numArrived > MAX_ARRIVED) await this.readWhole();
      else if (this.wanted && this.isCoarse(this.wanted)) await this.readFiner(this.wanted);
      this.onRead();
    } catch (error) {
      // What is drawn stays as it is, coarser than the screen.
      console.warn(`the timeline could not be read: ${messageOf(error)}`);
      again = RETRY_MILLISECONDS;
    }
    this.timer = undefined;
    if (again !== undefined) this.readSoon(again);
  }

  private async readWhole(): Promise<void> {
    await this.held.during(
      () => this.ask({ limit: NUM_SPANS }),
      (answer, arrived) => {
        this.whole.load(answer);
        for (const item of arrived) this.whole.apply(item);
      },
    );
  }

  private async readFiner({ view, extent }: Shown): Promise<void> {
    const width = view.to - view.from;
    const from = view.from - width * MARGIN;
    const end = view.to + width * MARGIN;
    const isAtEnd = end >= extent.to;
    await this.held.during(
      () => this.ask({ from, limit: NUM_SPANS, ...(isAtEnd ? {} : { to: end }) }),
      (answer, arrived) => {
        const to = isAtEnd ? Infinity : end;
        const recorded = new RecordedTime(to);
        recorded.load(answer);
        for (const item of arrived) recorded.apply(item);
        this.finer = { window: { from, to }, width, recorded };
      },
    );
  }

  private async ask(asked: TimelineAsked): Promise<Timeline> {
    if (!this.read) throw new Error("a timeline without a server cannot be read");
    return this.read(asked);
  }
}

/** Whether a window has all of a view that lies in recorded time. */
function covers(window: Extent, view: View, recorded: Extent | null): boolean {
  if (!recorded) return false;
  return (
    window.from <= Math.max(view.from, recorded.from) &&
    window.to >= Math.min(view.to, recorded.to) &&
    view.to > window.from
  );
}
