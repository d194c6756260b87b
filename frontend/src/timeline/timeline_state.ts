/** The state of a run's timeline: what was recorded, the window of time on screen, and the span under the pointer.
 * Components render it and call its methods; nothing is kept elsewhere.
 *
 * Invariant: the window always overlaps recorded time.
 */

import { type Signal, signal } from "@preact/signals";
import type { LaneStates, LendDecision, StreamItem, Timeline, TimelineSpan } from "../api/schema.ts";
import { serverNow } from "../base/clock.ts";
import { decisionBehind } from "../live/lends.ts";
import { type FleetRow, matching, type Rows, rowsOf } from "./fleet_rows.ts";
import { FleetStates, lanesAt, type ReadStates } from "./fleet_states.ts";
import type { LaneTrack, LaneTracks } from "./lane_tracks.ts";
import { fleetAt, type Layout, laneAt, layoutOf } from "./layout.ts";
import { LevelsOfDetail, type ReadTimeline } from "./levels_of_detail.ts";
import type { RecordedTime } from "./recorded_time.ts";
import { spanAt } from "./search.ts";
import { type Extent, firstView, fitted, followed, panned, type View, zoomed } from "./view.ts";

/** The span under the pointer. */
export interface Selection {
  readonly track: LaneTrack;
  readonly span: TimelineSpan;
  /** The decision that lent the lane, for a lent span. */
  readonly lend: LendDecision | undefined;
  /** The pointer, in CSS pixels of the canvas. */
  readonly x: number;
  readonly y: number;
}

/** The instant of a fleet row under the pointer. */
export interface FleetPoint {
  readonly row: FleetRow;
  readonly at: number;
  /** Mean number of lanes by kind of span about that instant, the most first. */
  readonly lanes: readonly (readonly [kind: string, lanes: number])[];
  readonly x: number;
  readonly y: number;
}

/** How near the pointer must be to a span too thin to hit, in CSS pixels. */
const SLACK_PIXELS = 3;
/** How far the present may lie beyond the newest span: a clock that is far ahead must not empty the window. */
const MAX_LEAD_SECONDS = 5;

export class TimelineState {
  /** Rises when anything drawn changed but window and selection. */
  readonly version = signal(0);
  readonly isLoaded = signal(false);
  /** Whether the run still reports: only then is there a present to follow. */
  readonly isLive = signal(false);
  /** Rises when the window was moved by hand. */
  readonly moves = signal(0);
  readonly selection: Signal<Selection | null> = signal(null);

  /** Which lanes are shown: words of their name, role, node or device; all when empty. */
  readonly filter = signal("");

  readonly fleetPoint: Signal<FleetPoint | null> = signal(null);
  /** Roles of many lanes whose lanes are shown too. */
  readonly openRoles = signal<ReadonlySet<string>>(new Set());

  private readonly levels: LevelsOfDetail;
  private readonly fleetStates: FleetStates | null;

  /** null until there is something to show. No signal: while it follows the present, every painted frame moves it. */
  private view: View | null = null;
  private readonly isMovedAway = signal(false);
  private width = 0;

  /** `read` answers windows; without it only what is loaded is drawn. `readStates` answers what the lanes of each role
   * did; without it every lane has a row, however many there are. */
  constructor(
    private readonly now: () => number = serverNow,
    read: ReadTimeline | null = null,
    readStates: ReadStates | null = null,
  ) {
    const onRead = () => {
      this.selection.value = null;
      this.version.value += 1;
    };
    this.levels = new LevelsOfDetail(read, onRead);
    this.fleetStates = readStates && new FleetStates(readStates, onRead);
  }

  /** Replace everything by a REST answer. */
  load(answer: Timeline): void {
    this.levels.load(answer);
    this.fleetStates?.reset();
    this.selection.value = null;
    this.isLoaded.value = true;
    this.version.value += 1;
  }

  /** Apply an item of the stream; whoever applies several raises `version` once after them. Returns whether it changed
   * what is drawn. */
  apply(item: StreamItem): boolean {
    return this.levels.apply(item);
  }

  stop(): void {
    this.levels.stop();
    this.fleetStates?.stop();
  }

  /** The number of the newest item in it. */
  get lastSeq(): number {
    return this.levels.whole.gate.last;
  }

  /** All lanes of the run, from top to bottom, with their spans as fine as the whole run is drawn. */
  get lanes(): LaneTracks {
    return this.levels.whole.lanes;
  }

  /** The lanes that have a row, with their spans as fine as the window allows. */
  get tracks(): readonly LaneTrack[] {
    const { lanes } = this.shown;
    const { tracks } = this.rows;
    if (lanes === this.lanes) return tracks;
    return tracks.map(({ lane, info }) => ({ lane, info, spans: lanes.spansOf(lane) }));
  }

  /** Every kind of span that is drawn; where spans were merged, the states of the lanes know more. */
  get kinds(): ReadonlySet<string> {
    const states = this.states?.roles.flatMap((role) => Object.keys(role.states)) ?? [];
    return new Set<string>([...this.lanes.kinds, ...this.shown.lanes.kinds, ...states]);
  }

  /** The rows of roles of many lanes. */
  get fleet(): readonly FleetRow[] {
    return this.rows.fleet;
  }

  /** What the fleet rows show; null until it was read. */
  get states(): LaneStates | null {
    return this.fleetStates?.states ?? null;
  }

  /** Every lane that matches the filter; without a filter roles of many lanes come in one row, which may be open. */
  private get rows(): Rows {
    if (this.fleetStates && this.filter.value.trim() === "") return rowsOf(this.lanes.tracks, this.openRoles.value);
    return { fleet: [], fleetAfter: [], tracks: matching(this.lanes.tracks, this.filter.value) };
  }

  /** Show the lanes of a role, or its one row only. */
  toggle(role: string): void {
    const open = new Set(this.openRoles.peek());
    if (!open.delete(role)) open.add(role);
    this.clearSelection();
    this.openRoles.value = open;
  }

  /** Everything but lanes, as fine as the window allows. */
  get shown(): RecordedTime {
    return this.levels.at(this.view);
  }

  /** Where things lie on a canvas as wide as the last one prepared. */
  get layout(): Layout {
    const { resizes, plans, queues } = this.levels.whole;
    const numMarkRows = [resizes, plans].filter(({ length }) => length > 0).length;
    const { tracks, fleetAfter } = this.rows;
    return layoutOf(this.width, tracks.length, queues.length > 0, numMarkRows, fleetAfter);
  }

  /** The instant from which the axis counts. */
  get origin(): number {
    return this.lanes.extent()?.from ?? 0;
  }

  /** Make ready to draw on a canvas of `width` CSS pixels: the window goes with the present where it follows. Returns
   * the window, or null where there is nothing to draw. */
  prepare(width: number): View | null {
    const extent = this.extent();
    if (!extent || width <= 0) return null;
    this.width = width;
    if (!this.view) this.view = firstView(extent, this.isLive.peek());
    else if (this.view.follow) this.view = followed(this.view, extent);
    this.levels.show(this.view, extent);
    if (this.fleet.length > 0) this.fleetStates?.show(this.view, extent);
    return this.view;
  }

  /** Whether the window goes with the present. */
  get isFollowing(): boolean {
    return this.isLive.value && !this.isMovedAway.value;
  }

  /** Zoom by `factor` (< 1: closer) about the pointer's `x`, or about the middle. */
  zoom(factor: number, x?: number): void {
    this.change((view, extent) =>
      zoomed(view, factor, x === undefined ? (view.from + view.to) / 2 : this.timeAt(x, view), extent),
    );
  }

  panBySeconds(seconds: number): void {
    this.change((view, extent) => panned(view, seconds, extent));
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

  follow(isOn: boolean): void {
    this.change((view, extent) => (isOn ? followed(view, extent) : { ...view, follow: false }));
  }

  /** The pointer is at a point of the canvas: the span there becomes the selection. */
  point(x: number, y: number): void {
    this.selection.value = this.spanUnder(x, y);
    this.fleetPoint.value = this.fleetUnder(x, y);
  }

  clearSelection(): void {
    this.selection.value = null;
    this.fleetPoint.value = null;
  }

  /** The role of the fleet row at a height. */
  roleAt(y: number): string | null {
    const row = fleetAt(this.layout, y);
    return row === null ? null : (this.fleet[row]?.role ?? null);
  }

  private fleetUnder(x: number, y: number): FleetPoint | null {
    const { layout, view, states } = this;
    const row = this.fleet[fleetAt(layout, y) ?? -1];
    if (!view || !states || !row || x < layout.labelWidth) return null;
    const at = this.timeAt(x, view);
    return { row, at, lanes: lanesAt(states, row.role, at), x, y };
  }

  private spanUnder(x: number, y: number): Selection | null {
    const { layout, view } = this;
    const lane = laneAt(layout, y);
    const track = lane === null ? undefined : this.tracks[lane];
    if (!view || !track || x < layout.labelWidth) return null;
    const span = spanAt(track.spans, this.timeAt(x, view), this.secondsPerPixel(view) * SLACK_PIXELS);
    if (!span) return null;
    const lend =
      span.kind === "lent_generate" ? decisionBehind(this.levels.whole.lends, track.lane, span.start) : undefined;
    return { track, span, lend, x, y };
  }

  private change(move: (view: View, extent: Extent) => View): void {
    const extent = this.extent();
    if (!extent || !this.view) return;
    this.view = move(this.view, extent);
    this.isMovedAway.value = !this.view.follow;
    // What the pointer is over is another span now, of which finer ones may be on their way.
    this.selection.value = null;
    this.moves.value += 1;
  }

  /** Recorded time; of a live run, up to the present: between two batches of events it moves on all the same. */
  private extent(): Extent | null {
    const extent = this.lanes.extent();
    if (!extent || !this.isLive.peek()) return extent;
    return { from: extent.from, to: Math.max(extent.to, Math.min(this.now(), extent.to + MAX_LEAD_SECONDS)) };
  }

  private secondsPerPixel(view: View): number {
    const { width, labelWidth } = this.layout;
    return (view.to - view.from) / (width - labelWidth);
  }

  private timeAt(x: number, view: View): number {
    return view.from + (x - this.layout.labelWidth) * this.secondsPerPixel(view);
  }
}
