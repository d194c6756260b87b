/** What a run recorded of its lane time: spans by lane, published versions, queue depths, lending decisions, resizes and
 * plans. An answer of REST, kept up with the stream.
 *
 * Invariant: data come in once, in stream order (`gate`).
 */

import type {
  AdoptedPlan,
  EndedResize,
  LendDecision,
  PublishedVersion,
  QueueDepths,
  StreamItem,
  Timeline,
} from "../api/schema.ts";
import { lendOf, withLend } from "../live/lends.ts";
import { SequenceGate } from "../live/sequence_gate.ts";
import { LaneTracks } from "./lane_tracks.ts";

export class RecordedTime {
  readonly gate = new SequenceGate();
  readonly lanes = new LaneTracks();
  versions: PublishedVersion[] = [];
  queues: QueueDepths[] = [];
  /** Decisions to lend, oldest first. */
  lends: readonly LendDecision[] = [];
  /** Resizes that have ended, oldest first. */
  resizes: EndedResize[] = [];
  /** Plans that the run adopted while it worked, oldest first. */
  plans: AdoptedPlan[] = [];
  /** Whether the server has finer spans than these. */
  isMerged = false;
  private numLoaded = 0;

  /** What begins after `until` (Unix seconds) belongs to a later window. */
  constructor(private readonly until = Infinity) {}

  /** Replace everything by a REST answer. */
  load(answer: Timeline): void {
    this.lanes.clear();
    for (const info of answer.lanes) this.lanes.place(info);
    for (const span of answer.spans) this.lanes.add(span);
    this.versions = [...answer.versions];
    this.queues = [...answer.queues];
    this.lends = answer.lends;
    this.resizes = [...answer.resizes];
    this.plans = [...answer.plans];
    this.isMerged = answer.spans.some((span) => span.num_spans > 1);
    this.gate.cover(answer.stream_seq);
    this.numLoaded = this.size;
  }

  /** Apply an item of the stream; returns whether it changed what is drawn. */
  apply(item: StreamItem): boolean {
    if (!this.gate.admit(item.stream_seq)) return false;
    if (item.type === "spans") {
      // A long stretch is reported when it ends, perhaps long after this window.
      for (const span of item.body.spans) if (span.start < this.until) this.lanes.add({ ...span, num_spans: 1 });
      return true;
    }
    if (item.at > this.until) return false;
    switch (item.type) {
      case "lanes":
        for (const info of item.body.lanes) this.lanes.place(info);
        if (item.body.resize && item.body.resize.state !== "accepted") {
          this.resizes.push({ at: item.at, resize: item.body.resize });
        }
        return true;
      case "plan":
        this.plans.push({ at: item.at, ...item.body });
        return true;
      case "publish":
        this.versions.push({ policy_version: item.body.policy_version, at: item.at });
        return true;
      case "queues":
        this.queues.push({ at: item.at, depths: item.body.depths });
        return true;
      case "lend":
        this.lends = withLend(this.lends, lendOf(item));
        return true;
      default:
        return false;
    }
  }

  /** How much has come since the answer. */
  get numArrived(): number {
    return this.size - this.numLoaded;
  }

  private get size(): number {
    return this.lanes.numSpans + this.versions.length + this.queues.length + this.lends.length;
  }
}
