/** The spans of one run by lane, each lane's in order of start: what the canvas draws. */

import { signal } from "@preact/signals";
import type { LaneInfo, LendDecision, StreamItem, TimelineAnswer } from "../api/types.ts";
import { lendOf, withLend } from "./lends.ts";
import { SequenceGate } from "./sequence_gate.ts";

export interface Span {
  readonly kind: string;
  readonly start: number;
  readonly end: number;
  readonly cause: string | null;
  readonly batch: number | null;
  readonly group: number | null;
  readonly version: number | null;
  readonly num_samples: number;
}

export interface LaneTrack {
  readonly lane: string;
  info: LaneInfo | undefined;
  readonly spans: Span[];
}

export interface QueueDepth {
  readonly at: number;
  readonly depths: Record<string, number>;
}

interface SpanBody {
  readonly lane: string;
  readonly kind: string;
  readonly start: number;
  readonly end: number;
  readonly cause?: string | null;
  readonly batch?: number | null;
  readonly group?: number | null;
  readonly policy_version?: number | null;
  readonly num_samples?: number;
}

/** What a lane is for; one that was not placed yet is known by its name. */
export function roleOf(track: LaneTrack): string {
  return track.info?.role || (track.lane.split("-")[0] ?? "");
}

const ROLE_ORDER = ["trainer", "rollout", "reward", "driver"];

export class TimelineStore {
  readonly gate = new SequenceGate();
  readonly version = signal(0);
  tracks: LaneTrack[] = [];
  /** Kinds that occurred, for the legend. */
  readonly kinds = new Set<string>();
  versions: { version: number; at: number }[] = [];
  queues: QueueDepth[] = [];
  /** Decisions to lend, oldest first. */
  lends: readonly LendDecision[] = [];

  load(answer: TimelineAnswer): void {
    this.tracks = [];
    this.kinds.clear();
    for (const info of answer.lanes) this.track(info.lane).info = info;
    for (const [lane, kind, start, end, cause, batch, group, version, num_samples] of answer.spans) {
      const name = answer.lanes[lane]?.lane ?? `lane ${lane}`;
      this.insert(this.track(name).spans, { kind, start, end, cause, batch, group, version, num_samples });
    }
    this.versions = [...answer.versions];
    this.queues = [...answer.queues];
    this.lends = answer.lends;
    this.order();
    this.gate.cover(answer.stream_seq);
    this.version.value += 1;
  }

  /** Returns whether the item changed what is drawn. */
  apply(item: StreamItem): boolean {
    switch (item.type) {
      case "spans":
        for (const span of (item.body as { spans: readonly SpanBody[] }).spans) this.addSpan(span);
        return true;
      case "lanes":
        for (const info of (item.body as { lanes: readonly LaneInfo[] }).lanes) this.track(info.lane).info = info;
        this.order();
        return true;
      case "publish":
        this.versions.push({ version: (item.body as { policy_version: number }).policy_version, at: item.at });
        return true;
      case "queues":
        this.queues.push({ at: item.at, depths: (item.body as { depths: Record<string, number> }).depths });
        return true;
      case "lend":
        this.lends = withLend(this.lends, lendOf(item));
        return true;
      default:
        return false;
    }
  }

  get numSpans(): number {
    return this.tracks.reduce((sum, track) => sum + track.spans.length, 0);
  }

  /** First and last instant drawn, or null while there is nothing. */
  extent(): { from: number; to: number } | null {
    let from = Infinity;
    let to = -Infinity;
    for (const { spans } of this.tracks) {
      const first = spans[0];
      const last = spans.at(-1);
      if (first) from = Math.min(from, first.start);
      if (last) to = Math.max(to, last.end);
    }
    return from < to ? { from, to } : null;
  }

  private addSpan(body: SpanBody): void {
    const known = this.tracks.length;
    const track = this.track(body.lane);
    if (this.tracks.length !== known) this.order();
    this.insert(track.spans, {
      kind: body.kind,
      start: body.start,
      end: body.end,
      cause: body.cause ?? null,
      batch: body.batch ?? null,
      group: body.group ?? null,
      version: body.policy_version ?? null,
      num_samples: body.num_samples ?? 0,
    });
  }

  /** Spans nearly always arrive in order; a late one is put in its place, because drawing searches by start. */
  private insert(spans: Span[], span: Span): void {
    this.kinds.add(span.kind);
    let index = spans.length;
    while (index > 0 && (spans[index - 1] as Span).start > span.start) index -= 1;
    if (index === spans.length) spans.push(span);
    else spans.splice(index, 0, span);
  }

  private track(lane: string): LaneTrack {
    let track = this.tracks.find((candidate) => candidate.lane === lane);
    if (!track) {
      track = { lane, info: undefined, spans: [] };
      this.tracks.push(track);
    }
    return track;
  }

  private order(): void {
    const rank = (track: LaneTrack) => {
      const index = ROLE_ORDER.indexOf(roleOf(track));
      return index < 0 ? ROLE_ORDER.length : index;
    };
    this.tracks.sort((a, b) => rank(a) - rank(b) || a.lane.localeCompare(b.lane, "en", { numeric: true }));
  }
}
