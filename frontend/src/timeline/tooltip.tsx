/** What a span was, beside the pointer. */

import type { LendDecision } from "../api/types.ts";
import { clock, duration } from "../base/format.ts";
import type { LaneTrack, Span } from "../live/timeline_store.ts";
import { causeLabel, classOf } from "./classes.ts";

export interface Hovered {
  readonly track: LaneTrack;
  readonly span: Span;
  /** The decision that lent the lane, for a lent span. */
  readonly lend: LendDecision | undefined;
  readonly x: number;
  readonly y: number;
  readonly toLeft: boolean;
}

export function SpanTooltip({ track, span, lend, x, y, toLeft }: Hovered) {
  const known = classOf(span.kind);
  const facts: [string, string][] = [["Lane", `${track.lane}${track.info ? ` · ${track.info.device}` : ""}`]];
  if (span.cause !== null) facts.push(["Cause", causeLabel(span.cause)]);
  if (span.batch !== null) facts.push(["Batch", String(span.batch)]);
  if (span.group !== null) facts.push(["Group", String(span.group)]);
  if (span.version !== null) facts.push(["Policy version", `v${span.version}`]);
  if (span.num_samples > 0) facts.push(["Samples", String(span.num_samples)]);
  if (lend) facts.push(["Lent by", decisionText(lend)]);
  facts.push(["From", clock(span.start)]);
  return (
    <div
      class="span-tooltip"
      role="tooltip"
      style={{ left: `${x}px`, top: `${y}px`, translate: toLeft ? "-100% 0" : "" }}
    >
      <div class="row">
        <i class={`swatch ${span.kind === "idle" ? "idle" : ""}`} style={{ "--swatch": `var(${known.colour})` }} />
        <strong>{known.label}</strong>
        <span class="num muted">{duration(span.end - span.start)}</span>
      </div>
      <dl class="kv">
        {facts.map(([name, value]) => [<dt key={name}>{name}</dt>, <dd key={`${name}=`}>{value}</dd>])}
      </dl>
    </div>
  );
}

function decisionText({ decision, predicted_gain_seconds: gain }: LendDecision): string {
  return gain === null ? `decision ${decision}` : `decision ${decision}, to gain ${duration(gain)}`;
}
