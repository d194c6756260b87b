/** Lane time as a waterfall: it begins with all lane-seconds, and what lanes waited for and worked on takes its part,
 * class by class, until nothing is left. Pure.
 *
 * Invariant: every part begins where the one before ended, and the last one ends at zero.
 */

import { parseClass, SPAN_CLASSES } from "./classes.ts";
import { isIdle, PAUSE, type Seconds, total } from "./shares.ts";

export interface Fall {
  /** The class that takes this part, as `/bubbles` names it. */
  readonly name: string;
  readonly seconds: number;
  /** What is left before and after it, as shares of all lane time. */
  readonly before: number;
  readonly after: number;
}

export interface Waterfall {
  readonly total: number;
  /** Pauses, each cause of idleness, and what no span covers; the longest first after pauses. */
  readonly lost: readonly Fall[];
  /** What remains for work, as a share of all lane time. */
  readonly remaining: number;
  /** Each kind of work, the longest first. */
  readonly worked: readonly Fall[];
}

const KNOWN: ReadonlySet<string> = new Set(SPAN_CLASSES.map(({ kind }) => kind));

export function waterfallOf(classes: Seconds): Waterfall {
  const parts = Object.entries(classes)
    .filter(([, seconds]) => seconds > 0)
    .sort(([a, first], [b, second]) => rank(a) - rank(b) || second - first);
  const all = total(classes);
  let taken = 0;
  const falls = parts.map(([name, seconds], index): Fall => {
    const before = 1 - taken / all;
    taken += seconds;
    // A sum of shares misses zero by a rounding error.
    return { name, seconds, before, after: index === parts.length - 1 ? 0 : 1 - taken / all };
  });
  const worked = falls.filter(({ name }) => rank(name) === WORK);
  return { total: all, lost: falls.slice(0, falls.length - worked.length), remaining: worked[0]?.before ?? 0, worked };
}

/** The order in which classes take their part. */
const [PAUSED, IDLE, NOT_COVERED, WORK] = [0, 1, 2, 3];

function rank(name: string): number {
  if (name === PAUSE) return PAUSED;
  if (isIdle(name)) return IDLE;
  return KNOWN.has(parseClass(name).known.kind) ? WORK : NOT_COVERED;
}
