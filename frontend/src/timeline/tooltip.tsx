/** What a span was, beside the pointer. */

import type { LendDecision } from "../api/schema.ts";
import { clock, duration } from "../base/format.ts";
import { causeLabel, classOf } from "./classes.ts";
import type { PlannedAgainstMeasured } from "./planned_batches.ts";
import type { Selection } from "./under_pointer.ts";

/** The pointer's distance, and the width that a tooltip may need, in CSS pixels. */
const [OFFSET_X, OFFSET_Y, WIDTH] = [14, 16, 260];

export function SpanTooltip({ selection, width }: { selection: Selection; width: number }) {
  const { span, x, y } = selection;
  const known = classOf(span.kind);
  return (
    <div class="span-tooltip" role="tooltip" style={besidePointer(x, y, width)}>
      <div class="row">
        <i class={`swatch ${span.kind === "idle" ? "idle" : ""}`} style={{ "--swatch": `var(${known.colour})` }} />
        <strong>{known.label}</strong>
        <span class="num muted">{duration(span.end - span.start)}</span>
      </div>
      <dl class="kv">
        {factsOf(selection).map(([name, value]) => [<dt key={name}>{name}</dt>, <dd key={`${name}=`}>{value}</dd>])}
      </dl>
    </div>
  );
}

/** Where a tooltip lies on a canvas of that width: to the left of the pointer where the right has no room. */
export function besidePointer(x: number, y: number, width: number) {
  const isLeft = x > width - WIDTH;
  return { left: `${x + OFFSET_X}px`, top: `${y + OFFSET_Y}px`, translate: isLeft ? "-100% 0" : "" };
}

/** What is known of a span, by name. */
export function factsOf({ track, span, lend, plan }: Selection): [string, string][] {
  const facts: [string, string][] = [["Lane", `${track.lane}${track.info ? ` · ${track.info.device}` : ""}`]];
  if (track.info?.shares) facts.push(["Shares the GPU of", track.info.shares]);
  if (span.num_spans > 1) facts.push(["Spans", `${span.num_spans}, most of it this`]);
  if (span.cause !== null) facts.push(["Cause", causeLabel(span.cause)]);
  if (span.batch !== null) facts.push(["Batch", String(span.batch)]);
  if (span.group !== null) facts.push(["Group", String(span.group)]);
  if (span.policy_version !== null) facts.push(["Policy version", `v${span.policy_version}`]);
  if (span.rank !== null) facts.push(["Rank", String(span.rank)]);
  if (span.kind === "train" && span.num_units > 0) facts.push(["Micro-batches", String(span.num_units)]);
  if (span.num_samples > 0) facts.push(["Samples", String(span.num_samples)]);
  if (lend) facts.push(["Lent by", decisionText(lend)]);
  facts.push(["From", clock(span.start)]);
  if (plan) facts.push(...planFacts(plan, classOf(span.kind).label));
  return facts;
}

/** A batch and its part against the plan. */
function planFacts({ version, batch, part }: PlannedAgainstMeasured, kind: string): [string, string][] {
  const facts: [string, string][] = [[`v${version} to v${version + 1}`, againstPlan(batch)]];
  if (part) facts.push([`${kind} then`, againstPlan(part)]);
  return facts;
}

function againstPlan({ planned, measured }: { planned: number; measured: number | null }): string {
  return measured === null ? `planned ${duration(planned)}` : `${duration(measured)}, planned ${duration(planned)}`;
}

function decisionText({ decision, predicted_gain_seconds: gain, least_gain_seconds: least }: LendDecision): string {
  if (gain === null) return `decision ${decision}`;
  const threshold = least === null ? "" : `, at least ${duration(least)}`;
  return `decision ${decision}, to gain ${duration(gain)}${threshold}`;
}
