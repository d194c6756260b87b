/** Finding spans by time in one lane's list, sorted by start and free of overlap. */

import type { Span } from "../live/timeline_store.ts";

/** Index of the first span that ends after `time`; the list's length when none does. */
export function firstEndingAfter(spans: readonly Span[], time: number): number {
  let low = 0;
  let high = spans.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((spans[middle] as Span).end > time) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The span that covers `time`, or the nearest one within `slack` seconds: a hair-thin span must still be hit. */
export function spanAt(spans: readonly Span[], time: number, slack: number): Span | null {
  const index = firstEndingAfter(spans, time);
  const here = spans[index];
  if (here && here.start <= time) return here;
  const before = spans[index - 1];
  const beforeGap = before ? time - before.end : Infinity;
  const afterGap = here ? here.start - time : Infinity;
  const nearest = beforeGap <= afterGap ? before : here;
  return nearest && Math.min(beforeGap, afterGap) <= slack ? nearest : null;
}
