/** Which stretch of time a range of batches is in a run, and a run's spans in it as a drawing. Pure. */

import type { TimelineSpan } from "../../api/schema.ts";
import type { Curve } from "../../live/growing_curve.ts";
import { roleRank } from "../../timeline/lane_tracks.ts";
import type { Extent } from "../../timeline/view.ts";

/** From the end of the batch before `first` to the end of the last of `count` batches, by the curve of seconds per
 * batch; null for a run that has not come so far. Where a thinned curve has no point for a batch, mean seconds stand in
 * for the missing end. */
export function windowOf(curve: Curve | undefined, first: number, count: number): Extent | null {
  if (!curve) return null;
  const last = first + count - 1;
  const end = curve.batch.findIndex((batch) => batch >= last);
  const to = curve.at[end];
  if (to === undefined) return null;
  const before = curve.batch.indexOf(first - 1);
  const overshoot = (curve.batch[end] ?? last) - last;
  const seconds = curve.value[end] ?? 0;
  const until = to - overshoot * seconds;
  return { from: before < 0 ? until - count * seconds : (curve.at[before] ?? until), to: until };
}

/** The first and the last batch that any of the runs has measured. */
export function batchBounds(curves: readonly (Curve | undefined)[]): { first: number; last: number } | null {
  const measured = curves.flatMap((curve) => curve?.batch ?? []);
  if (measured.length === 0) return null;
  return { first: Math.min(...measured), last: Math.max(...measured) };
}

/** The lanes with their spans: trainers first, then by name. */
export function laneRows(spans: readonly TimelineSpan[]): [string, readonly TimelineSpan[]][] {
  const rows = new Map<string, TimelineSpan[]>();
  for (const span of spans) {
    const row = rows.get(span.lane);
    if (row) row.push(span);
    else rows.set(span.lane, [span]);
  }
  const byName = new Intl.Collator("en", { numeric: true }).compare;
  const role = (lane: string) => roleRank(lane.split("-")[0] ?? "");
  return [...rows].sort(([a], [b]) => role(a) - role(b) || byName(a, b));
}

/** One path for each kind of span, of rectangles in units of seconds × rows: few elements, however many spans. */
export function pathsByKind(
  rows: readonly [string, readonly TimelineSpan[]][],
  { from, to }: Extent,
): ReadonlyMap<TimelineSpan["kind"], string> {
  const paths = new Map<TimelineSpan["kind"], string>();
  rows.forEach(([, spans], row) => {
    for (const { kind, start, end } of spans) {
      const [left, right] = [Math.max(start, from) - from, Math.min(end, to) - from];
      if (right <= left) continue;
      const rectangle = `M${left.toFixed(3)} ${row + GAP}H${right.toFixed(3)}V${row + 1 - GAP}H${left.toFixed(3)}Z`;
      paths.set(kind, (paths.get(kind) ?? "") + rectangle);
    }
  });
  return paths;
}

/** Between a lane's spans and the row's edge, as a share of the row. */
const GAP = 0.1;
