/** Finding spans by time in one lane's list, sorted by start and free of overlap. */

import type { Extent } from "./view.ts";

/** Index of the first span that ends after `time`; the list's length when none does. */
export function firstEndingAfter(spans: readonly { readonly end: number }[], time: number): number {
  let low = 0;
  let high = spans.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((spans[middle]?.end ?? Infinity) > time) high = middle;
    else low = middle + 1;
  }
  return low;
}

interface Stretch {
  readonly start: number;
  readonly end: number;
}

/** The spans that touch a window, in order. */
export function* spansIn<Span extends Stretch>(spans: readonly Span[], window: Extent): Iterable<Span> {
  for (let index = firstEndingAfter(spans, window.from); index < spans.length; index += 1) {
    const span = spans[index];
    if (!span || span.start >= window.to) return;
    yield span;
  }
}

/** The span that covers `time`, or the nearest one within `slack` seconds: a span thinner than a pixel must still be found. */
export function spanAt<Span extends Stretch>(spans: readonly Span[], time: number, slack: number): Span | null {
  const index = firstEndingAfter(spans, time);
  const here = spans[index];
  if (here && here.start <= time) return here;
  const before = spans[index - 1];
  const beforeGap = before ? time - before.end : Infinity;
  const afterGap = here ? here.start - time : Infinity;
  const nearest = beforeGap <= afterGap ? before : here;
  return nearest && Math.min(beforeGap, afterGap) <= slack ? nearest : null;
}
