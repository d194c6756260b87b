/** Lane time as a waterfall: it begins with all lane-seconds that were not paused, and what lanes waited for and worked on
 * takes its part, class by class, until nothing is left. Pure.
 *
 * Invariant: every part begins where the one before ended, and the last one ends at zero.
 */

import { isIdle, isWork, PAUSE, type Seconds, unpaused } from "./shares.ts";

export interface Fall {
  /** The class that takes this part, as `/bubbles` names it. */
  readonly name: string;
  readonly seconds: number;
  /** What is left before and after it, as shares of the whole. */
  readonly before: number;
  readonly after: number;
}

export interface Waterfall {
  /** Seconds of pauses, which are no part of the whole. */
  readonly paused: number;
  /** The whole: seconds that were not paused. */
  readonly total: number;
  /** Each cause of idleness, the longest first, then what no span covers. */
  readonly lost: readonly Fall[];
  /** What remains for work: the busy share. */
  readonly remaining: number;
  /** Each kind of work, the longest first. */
  readonly worked: readonly Fall[];
}

export function waterfallOf(classes: Seconds): Waterfall {
  const parts = Object.entries(classes)
    .filter(([name, seconds]) => seconds > 0 && name !== PAUSE)
    .sort(([a, first], [b, second]) => rank(a) - rank(b) || second - first);
  const all = unpaused(classes);
  let taken = 0;
  const falls = parts.map(([name, seconds], index): Fall => {
    const before = 1 - taken / all;
    taken += seconds;
    // A sum of shares misses zero by a rounding error.
    return { name, seconds, before, after: index === parts.length - 1 ? 0 : 1 - taken / all };
  });
  const worked = falls.filter(({ name }) => rank(name) === WORK);
  const lost = falls.slice(0, falls.length - worked.length);
  return { paused: classes[PAUSE] ?? 0, total: all, lost, remaining: worked[0]?.before ?? 0, worked };
}

/** The order in which classes take their part. */
const [IDLE, NOT_COVERED, WORK] = [0, 1, 2];

function rank(name: string): number {
  if (isIdle(name)) return IDLE;
  return isWork(name) ? WORK : NOT_COVERED;
}
