/** The spans of one run by lane, each lane's in order of start: what drawing searches. */

import type { LaneInfo, SpanKind, TimelineSpan } from "../api/schema.ts";
import type { Extent } from "./view.ts";

export interface LaneTrack {
  readonly lane: string;
  /** Where it was placed; undefined for a lane that was not placed yet, and for the driver. */
  info: LaneInfo | undefined;
  readonly spans: TimelineSpan[];
}

/** The role of a lane; one that was not placed yet is known by its name, `<role>-<index>`. */
export function roleOf(track: LaneTrack): string {
  return track.info?.role ?? track.lane.split("-")[0] ?? "";
}

/** The lane's name, with its role where that has changed since the lane was given to the run. */
export function labelOf(track: LaneTrack): string {
  const role = roleOf(track);
  return track.lane.startsWith(`${role}-`) ? track.lane : `${track.lane} (${role})`;
}

const ROLE_ORDER = ["trainer", "rollout", "reward", "driver"];

/** Where a role stands among lanes and bars, from top to bottom; unknown ones come last. */
export function roleRank(role: string): number {
  const index = ROLE_ORDER.indexOf(role);
  return index < 0 ? ROLE_ORDER.length : index;
}

export class LaneTracks {
  /** From top to bottom. */
  readonly tracks: LaneTrack[] = [];
  /** Kinds that occurred, for the legend. */
  readonly kinds = new Set<SpanKind>();

  clear(): void {
    this.tracks.length = 0;
    this.kinds.clear();
  }

  /** Record where a lane was placed; a later report replaces an earlier one. */
  place(info: LaneInfo): void {
    this.track(info.lane).info = info;
    this.order();
  }

  /** Spans nearly always arrive in order; a late one is put at its place, because drawing searches by start. */
  add(span: TimelineSpan): void {
    this.kinds.add(span.kind);
    const { spans } = this.track(span.lane);
    const index = spans.findLastIndex((other) => other.start <= span.start) + 1;
    if (index === spans.length) spans.push(span);
    else spans.splice(index, 0, span);
  }

  /** The spans of a lane, in order of start. */
  spansOf(lane: string): TimelineSpan[] {
    return this.tracks.find((track) => track.lane === lane)?.spans ?? [];
  }

  get numSpans(): number {
    return this.tracks.reduce((sum, track) => sum + track.spans.length, 0);
  }

  /** First and last instant of any span, or null while there is none. */
  extent(): Extent | null {
    let from = Infinity;
    let to = -Infinity;
    for (const { spans } of this.tracks) {
      from = Math.min(from, spans[0]?.start ?? Infinity);
      to = Math.max(to, spans.at(-1)?.end ?? -Infinity);
    }
    return from < to ? { from, to } : null;
  }

  private track(lane: string): LaneTrack {
    let track = this.tracks.find((candidate) => candidate.lane === lane);
    if (!track) {
      track = { lane, info: undefined, spans: [] };
      this.tracks.push(track);
      this.order();
    }
    return track;
  }

  private order(): void {
    this.tracks.sort(
      (a, b) => roleRank(roleOf(a)) - roleRank(roleOf(b)) || a.lane.localeCompare(b.lane, "en", { numeric: true }),
    );
  }
}
