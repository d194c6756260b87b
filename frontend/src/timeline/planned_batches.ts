/** What the plans of a run promised, laid beside what happened: batch by batch, each from the version on that it is
 * generated with. Pure.
 *
 * Invariant: a planned batch begins at the very instant at which the run reported its version, and is cut where the run
 * reported the next.
 */

import type { PlannedBatch, PlannedSpan, PlannedTime, PublishedVersion, TimelineSpan } from "../api/schema.ts";
import { spansIn } from "./search.ts";
import type { Extent } from "./view.ts";

export interface BatchBesidePlan {
  /** The version that the batch is generated with: the number of complete batches when it began. */
  readonly version: number;
  readonly from: number;
  /** When the next version was reported; null while the batch goes on. */
  readonly to: number | null;
  readonly planned: PlannedBatch;
}

/** Planned and measured seconds of a batch, and of one kind of span of one lane in it; null where not known. */
export interface PlannedAgainstMeasured {
  readonly version: number;
  readonly batch: { readonly planned: number; readonly measured: number | null };
  readonly part: { readonly planned: number; readonly measured: number } | null;
}

/** The batches that a window touches. `isLive`: the newest version's batch goes on; otherwise none follows it. */
export function batchesBesidePlan(
  plans: readonly PlannedTime[],
  versions: readonly PublishedVersion[],
  window: Extent,
  isLive: boolean,
): BatchBesidePlan[] {
  return versions.flatMap(({ policy_version: version, at: from }, index): BatchBesidePlan[] => {
    const next = versions[index + 1];
    // A version that is left out, or a run that went back to a checkpoint, leaves the end of a batch unknown.
    const isKnown = next ? next.policy_version === version + 1 : isLive;
    const planned = isKnown ? plannedBatch(plans, version, from) : null;
    if (!planned || from > window.to || (next?.at ?? from + planned.seconds) < window.from) return [];
    return [{ version, from, to: next?.at ?? null, planned }];
  });
}

/** What the plan in force at an instant promised of the batch of a version. */
function plannedBatch(plans: readonly PlannedTime[], version: number, at: number): PlannedBatch | null {
  const plan = plans.findLast(({ since }) => since <= at);
  if (!plan || plan.cycle.length === 0) return null;
  const number = Math.max(0, version - plan.since_batch);
  return plan.lead[number] ?? plan.cycle[(number - plan.lead.length) % plan.cycle.length] ?? null;
}

/** The planned spans of a lane in Unix seconds, none of them beyond the batch's end. */
export function plannedSpans({ planned, from, to }: BatchBesidePlan, lane: string): PlannedSpan[] {
  const end = to ?? Infinity;
  return spansOfLane(planned, lane)
    .filter((span) => from + span.start < end)
    .map((span) => ({ ...span, start: from + span.start, end: Math.min(from + span.end, end) }));
}

const byLane = new WeakMap<PlannedBatch, Map<string, PlannedSpan[]>>();

/** Looked up in every frame for every lane, so sorted by lane once. */
function spansOfLane(planned: PlannedBatch, lane: string): readonly PlannedSpan[] {
  let lanes = byLane.get(planned);
  if (!lanes) {
    lanes = new Map(planned.spans.map((span) => [span.lane, []]));
    for (const span of planned.spans) lanes.get(span.lane)?.push(span);
    byLane.set(planned, lanes);
  }
  return lanes.get(lane) ?? [];
}

/** A span's batch and kind on its lane against the plan; null where its batch has no plan. */
export function plannedAgainstMeasured(
  batches: readonly BatchBesidePlan[],
  span: TimelineSpan,
  ofLane: readonly TimelineSpan[],
): PlannedAgainstMeasured | null {
  const middle = (span.start + span.end) / 2;
  const batch = batches.find(({ from, to }) => from <= middle && middle < (to ?? Infinity));
  if (!batch) return null;
  const { version, from, to, planned } = batch;
  const measured = to === null ? null : to - from;
  return {
    version,
    batch: { planned: planned.seconds, measured },
    part: to === null ? null : partOf(planned, span, [...spansIn(ofLane, { from, to })], { from, to }),
  };
}

/** The seconds of a span's kind on its lane in a batch; null where spans were merged, since these mix kinds. */
function partOf(planned: PlannedBatch, { lane, kind }: TimelineSpan, spans: readonly TimelineSpan[], batch: Extent) {
  if (spans.some(({ num_spans }) => num_spans > 1)) return null;
  const inBatch = spans
    .filter((span) => span.kind === kind)
    .map((span) => Math.min(span.end, batch.to) - Math.max(span.start, batch.from));
  const promised = spansOfLane(planned, lane).filter((span) => span.kind === kind);
  return { planned: sum(promised.map(({ start, end }) => end - start)), measured: sum(inBatch) };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
