/** The state of a run's timeline: what was recorded, the rows it is drawn in, and the span under the pointer. Components
 * render it and call its methods; nothing is kept elsewhere.
 *
 *     LevelsOfDetail   what was recorded, as fine as the window allows
 *     TimelineWindow   the stretch of time on screen
 *     FleetStates      what the lanes of each role did, for rows of many lanes
 *     PlanOverlay      what the run's plans promised
 */

import { type Signal, signal } from "@preact/signals";
import type { LaneStates, StreamItem, Timeline } from "../api/schema.ts";
import { serverNow } from "../base/clock.ts";
import { decisionBehind } from "../live/lends.ts";
import { type FleetRow, matching, type Rows, rowsOf } from "./fleet_rows.ts";
import { FleetStates, lanesAt, type ReadStates } from "./fleet_states.ts";
import type { LaneTrack, LaneTracks } from "./lane_tracks.ts";
import { fleetAt, isNarrow, type Layout, laneAt, layoutOf } from "./layout.ts";
import { LevelsOfDetail, type ReadTimeline } from "./levels_of_detail.ts";
import { PlanOverlay, type ReadPlans } from "./plan_overlay.ts";
import { type BatchBesidePlan, plannedAgainstMeasured } from "./planned_batches.ts";
import type { RecordedTime } from "./recorded_time.ts";
import { spanAt } from "./search.ts";
import { TimelineWindow } from "./timeline_window.ts";
import type { FleetPoint, Selection } from "./under_pointer.ts";
import type { Extent, View } from "./view.ts";

/** How near the pointer must be to a span too thin to hit, in CSS pixels. */
const SLACK_PIXELS = 3;
/** How far the present may lie beyond the newest span: a clock that is far ahead must not empty the window. */
const MAX_LEAD_SECONDS = 5;

/** Where a timeline reads from; what is not given is not drawn. */
export interface TimelineReaders {
  /** Windows of the run; without it only what is loaded is drawn. */
  readonly timeline?: ReadTimeline;
  /** What the lanes of each role did; without it every lane has a row, however many there are. */
  readonly states?: ReadStates;
  /** What the run's plans promised. */
  readonly plans?: ReadPlans;
}

export class TimelineState {
  /** Rises when anything drawn changed but window and selection. */
  readonly version = signal(0);
  readonly isLoaded = signal(false);
  /** Whether the run still reports: only then is there a present to follow. */
  readonly isLive = signal(false);
  readonly selection: Signal<Selection | null> = signal(null);

  /** Which lanes are shown: words of their name, role, node or device; all when empty. */
  readonly filter = signal("");

  readonly fleetPoint: Signal<FleetPoint | null> = signal(null);
  /** Roles of many lanes whose lanes are shown too. */
  readonly openRoles = signal<ReadonlySet<string>>(new Set());

  readonly window: TimelineWindow;
  readonly plan: PlanOverlay;
  private readonly levels: LevelsOfDetail;
  private readonly fleetStates: FleetStates | null;

  constructor(
    private readonly now: () => number = serverNow,
    readers: TimelineReaders = {},
    /** What the axis covers at least, where another timeline has the same. */
    private readonly least: Extent | null = null,
  ) {
    const forget = () => {
      this.selection.value = null;
    };
    const onRead = () => {
      forget();
      this.version.value += 1;
    };
    // What the pointer is over is another span once the window moved, of which finer ones may be on their way.
    this.window = new TimelineWindow(() => this.extent(), forget);
    this.plan = new PlanOverlay(readers.plans ?? null, onRead);
    this.levels = new LevelsOfDetail(readers.timeline ?? null, onRead);
    this.fleetStates = readers.states ? new FleetStates(readers.states, onRead) : null;
  }

  /** Replace everything by a REST answer. */
  load(answer: Timeline): void {
    this.levels.load(answer);
    this.fleetStates?.reset();
    this.plan.reset();
    this.selection.value = null;
    this.isLoaded.value = true;
    this.version.value += 1;
  }

  /** Apply an item of the stream; whoever applies several raises `version` once after them. Returns whether it changed
   * what is drawn. */
  apply(item: StreamItem): boolean {
    if (item.type === "plan" || item.type === "lanes") this.plan.reset();
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
    return this.levels.at(this.window.view);
  }

  /** Where things lie on a canvas as wide as the last one prepared. */
  get layout(): Layout {
    const { resizes, plans, queues } = this.levels.whole;
    const numMarkRows = [resizes, plans].filter(({ length }) => length > 0).length;
    const { tracks, fleetAfter } = this.rows;
    const { width } = this.window;
    const hasPlan = this.plan.isDrawn && !isNarrow(width);
    return layoutOf(width, tracks.length, queues.length > 0, numMarkRows, fleetAfter, hasPlan);
  }

  /** The instant from which the axis counts. */
  get origin(): number {
    return this.extent()?.from ?? 0;
  }

  /** The batches on screen whose plan is drawn: where each lane has a row, on a canvas with room for it. */
  get plannedBatches(): readonly BatchBesidePlan[] {
    const { view, width } = this.window;
    if (!view || isNarrow(width) || this.rows.tracks.length === 0) return [];
    return this.plan.batches(this.shown.versions, view, this.isLive.value, this.window.secondsPerPixel(view));
  }

  /** Make ready to draw on a canvas of `width` CSS pixels: the window goes with the present where it follows. Returns
   * the window, or null where there is nothing to draw. */
  prepare(width: number): View | null {
    const view = this.window.prepare(width, this.isLive.peek());
    const extent = this.extent();
    if (!view || !extent) return null;
    this.levels.show(view, extent);
    if (this.fleet.length > 0) this.fleetStates?.show(view, extent);
    if (this.rows.tracks.length > 0 && !isNarrow(width)) this.plan.show();
    return view;
  }

  /** Whether the window goes with the present. */
  get isFollowing(): boolean {
    return this.isLive.value && !this.window.isMovedAway.value;
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
    const { layout, states } = this;
    const { view } = this.window;
    const row = this.fleet[fleetAt(layout, y) ?? -1];
    if (!view || !states || !row || x < layout.labelWidth) return null;
    const at = this.window.timeAt(x, view);
    return { row, at, lanes: lanesAt(states, row.role, at), x, y };
  }

  private spanUnder(x: number, y: number): Selection | null {
    const { layout } = this;
    const { view } = this.window;
    const lane = laneAt(layout, y);
    const track = lane === null ? undefined : this.tracks[lane];
    if (!view || !track || x < layout.labelWidth) return null;
    const span = spanAt(track.spans, this.window.timeAt(x, view), this.window.secondsPerPixel(view) * SLACK_PIXELS);
    if (!span) return null;
    const lend =
      span.kind === "lent_generate" ? decisionBehind(this.levels.whole.lends, track.lane, span.start) : undefined;
    const plan = plannedAgainstMeasured(this.plannedBatches, span, track.spans);
    return { track, span, lend, plan, x, y };
  }

  /** Recorded time; of a live run, up to the present: between two batches of events it moves on all the same. */
  private extent(): Extent | null {
    const recorded = this.lanes.extent();
    const extent = recorded && union(recorded, this.least ?? recorded);
    if (!extent || !this.isLive.peek()) return extent;
    return { from: extent.from, to: Math.max(extent.to, Math.min(this.now(), extent.to + MAX_LEAD_SECONDS)) };
  }
}

function union(a: Extent, b: Extent): Extent {
  return { from: Math.min(a.from, b.from), to: Math.max(a.to, b.to) };
}
