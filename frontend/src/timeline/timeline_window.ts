/** The window of time that a timeline shows: it goes with the present of a live run until it is moved by hand.
 *
 * Invariant: the window always overlaps recorded time.
 */

import { signal } from "@preact/signals";
import { labelWidthOf } from "./layout.ts";
import { type Extent, firstView, fitted, followed, panned, type View, zoomed } from "./view.ts";

export class TimelineWindow {
  /** Rises when the window was moved by hand. */
  readonly moves = signal(0);
  /** Whether it was moved away from the present. */
  readonly isMovedAway = signal(false);
  /** Of the canvas last painted, in CSS pixels. */
  width = 0;

  /** null until there is something to show. No signal: while it follows the present, every painted frame moves it. */
  private held: View | null = null;

  /** `extentOf` is what is recorded; `onMoved` is called when the window was moved by hand. */
  constructor(
    private readonly extentOf: () => Extent | null,
    private readonly onMoved: () => void,
  ) {}

  get view(): View | null {
    return this.held;
  }

  /** Make ready for a canvas of `width` CSS pixels, of a run that is live or has ended. Returns the window, or null where
   * there is nothing to draw. */
  prepare(width: number, isLive: boolean): View | null {
    const extent = this.extentOf();
    if (!extent || width <= 0) return null;
    this.width = width;
    if (!this.held) this.held = firstView(extent, isLive);
    else if (this.held.follow) this.held = followed(this.held, extent);
    return this.held;
  }

  /** Zoom by `factor` (< 1: closer) about the pointer's `x`, or about the middle. */
  zoom(factor: number, x?: number): void {
    this.change((view, extent) =>
      zoomed(view, factor, x === undefined ? (view.from + view.to) / 2 : this.timeAt(x, view), extent),
    );
  }

  panByPixels(pixels: number): void {
    this.change((view, extent) => panned(view, pixels * this.secondsPerPixel(view), extent));
  }

  /** Move by a share of the window. */
  panByShare(share: number): void {
    this.change((view, extent) => panned(view, (view.to - view.from) * share, extent));
  }

  showAll(): void {
    this.change((view, extent) => fitted(extent, view.follow));
  }

  /** Show what another timeline on the same axis shows. */
  take(view: View): void {
    if (view === this.held) return;
    this.held = view;
    this.onMoved();
    this.moves.value += 1;
  }

  follow(isOn: boolean): void {
    this.change((view, extent) => (isOn ? followed(view, extent) : { ...view, follow: false }));
  }

  secondsPerPixel(view: View): number {
    return (view.to - view.from) / (this.width - labelWidthOf(this.width));
  }

  /** The instant at `x` of the canvas. */
  timeAt(x: number, view: View): number {
    return view.from + (x - labelWidthOf(this.width)) * this.secondsPerPixel(view);
  }

  private change(move: (view: View, extent: Extent) => View): void {
    const extent = this.extentOf();
    if (!extent || !this.held) return;
    this.held = move(this.held, extent);
    this.isMovedAway.value = !this.held.follow;
    this.onMoved();
    this.moves.value += 1;
  }
}
