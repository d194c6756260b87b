/** What the lanes of each role did about the window on screen, in buckets as fine as it: read when the window rests and
 * lacks something, and while it goes with the present again with each bucket, though at most
 * every few seconds. */

import { messageOf } from "../api/client.ts";
import type { LaneStates } from "../api/schema.ts";
import type { Extent, View } from "./view.ts";

export interface StatesAsked {
  readonly from: number;
  readonly to: number;
  readonly buckets: number;
}
export type ReadStates = (asked: StatesAsked) => Promise<LaneStates>;

/** Twice the window is read in so many buckets: one is about four of 1,200 pixels. */
const NUM_BUCKETS = 600;
/** How far it reaches beyond either edge of the screen, as a share of its width: room to pan. */
const MARGIN = 0.5;
/** Below this share of the width that was read for, buckets are coarser than the screen. */
const COARSE_BELOW = 0.5;
/** Widths that differ by a smaller share than this are one, but for rounding. */
const SAME_WIDTH = 1e-3;
/** After the window came to rest, between reads while it follows the present, and after one that failed. */
const [SETTLED_MILLISECONDS, FOLLOWING_MILLISECONDS, RETRY_MILLISECONDS] = [120, 3000, 5000];

/** Mean number of a role's lanes in each state in the bucket about an instant, the most first. */
export function lanesAt(states: LaneStates, role: string, at: number): [string, number][] {
  const bucket = Math.floor((at - states.start) / states.bucket_seconds);
  const found = states.roles.find((one) => one.role === role)?.states ?? {};
  return Object.entries(found)
    .map(([kind, lanes]): [string, number] => [kind, lanes[bucket] ?? 0])
    .filter(([, lanes]) => lanes > 0)
    .sort(([, a], [, b]) => b - a);
}

interface Held {
  readonly window: Extent;
  /** The width of the screen's window that it was read for. */
  readonly width: number;
  readonly states: LaneStates;
}

export class FleetStates {
  private held: Held | null = null;
  private wanted: { readonly view: View; readonly extent: Extent } | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  /** The wait of the read that is due; 0 while it goes on. */
  private wait = Infinity;
  private isStopped = false;

  /** `onRead` is called when there is something new to draw. */
  constructor(
    private readonly read: ReadStates,
    private readonly onRead: () => void,
  ) {}

  get states(): LaneStates | null {
    return this.held?.states ?? null;
  }

  /** The screen shows `view`, and `extent` is recorded. */
  show(view: View, extent: Extent): void {
    this.wanted = { view, extent };
    if (!this.isLacking()) return;
    const { held } = this;
    const onlyGoesOn = view.follow && held && Math.abs((view.to - view.from) / held.width - 1) < SAME_WIDTH;
    // Before a bucket has passed there is nothing new to see.
    const nextBucket = 1000 * (held?.states.bucket_seconds ?? 0);
    this.readSoon(onlyGoesOn ? Math.max(FOLLOWING_MILLISECONDS, nextBucket) : SETTLED_MILLISECONDS);
  }

  /** Begin anew: what is shown is read again. */
  reset(): void {
    this.held = null;
    this.isStopped = false;
  }

  /** Read no more: the page goes. */
  stop(): void {
    clearTimeout(this.timer);
    this.wait = Infinity;
    this.isStopped = true;
  }

  private isLacking(): boolean {
    if (!this.wanted) return false;
    if (!this.held) return true;
    const { view, extent } = this.wanted;
    const { window, width } = this.held;
    const covers = window.from <= Math.max(view.from, extent.from) && window.to >= Math.min(view.to, extent.to);
    return !covers || view.to - view.from < width * COARSE_BELOW;
  }

  /** A read that is due later gives way to one that is due sooner. */
  private readSoon(milliseconds: number): void {
    if (this.isStopped || milliseconds >= this.wait) return;
    clearTimeout(this.timer);
    this.wait = milliseconds;
    this.timer = setTimeout(() => void this.readLacking(), milliseconds);
  }

  private async readLacking(): Promise<void> {
    this.wait = 0;
    let again = Infinity;
    try {
      if (this.wanted && this.isLacking()) await this.readAbout(this.wanted);
    } catch (error) {
      console.warn(`the states of the lanes could not be read: ${messageOf(error)}`);
      again = RETRY_MILLISECONDS;
    }
    this.wait = Infinity;
    if (again < Infinity) this.readSoon(again);
    else this.onRead();
  }

  private async readAbout({ view, extent }: { view: View; extent: Extent }): Promise<void> {
    const width = view.to - view.from;
    const window = {
      from: Math.max(extent.from, view.from - width * MARGIN),
      to: Math.min(extent.to, view.to + width * MARGIN),
    };
    this.held = { window, width, states: await this.read({ ...window, buckets: NUM_BUCKETS }) };
  }
}
