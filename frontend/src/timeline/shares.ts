/** Lane time by class: in which order it is told, how much of it was work, and where most of it was lost. Pure. */

import type { BubblesAnswer } from "../api/types.ts";
import { WORK_CLASSES, classLabel, parseClass } from "./classes.ts";

const ORDER = WORK_CLASSES.map((known) => known.kind);

export type Seconds = Readonly<Record<string, number>>;

export const isIdle = (name: string) => parseClass(name).known.kind === "idle";

/** Work first in legend order, then idle causes, longest first. */
export function ordered(classes: Seconds): [string, number][] {
  const rank = (name: string) => {
    const index = ORDER.indexOf(parseClass(name).known.kind);
    return index < 0 ? ORDER.length : index;
  };
  return Object.entries(classes)
    .filter(([, seconds]) => seconds > 0)
    .sort(([a, first], [b, second]) => rank(a) - rank(b) || second - first);
}

export function total(classes: Seconds): number {
  return Object.values(classes).reduce((sum, seconds) => sum + seconds, 0);
}

/** The share of lane time that was not idle; 0 where no time has passed. */
export function busyShare(classes: Seconds): number {
  const all = total(classes);
  const idle = Object.entries(classes).filter(([name]) => isIdle(name)).reduce((sum, [, seconds]) => sum + seconds, 0);
  return all > 0 ? 1 - idle / all : 0;
}

export interface Loss {
  readonly role: string;
  readonly name: string;
  readonly label: string;
  /** Of all lane time. */
  readonly share: number;
}

/** A run's beginning and end are no bottleneck. */
const ENDS = new Set(["idle:start_up", "idle:drain"]);

/** The cause on which most lane time was lost between the run's beginning and its end; null where nothing was. */
export function largestLoss(bubbles: BubblesAnswer): Loss | null {
  const losses = Object.entries(bubbles.by_role).flatMap(([role, classes]) =>
    Object.entries(classes)
      .filter(([name]) => isIdle(name) && !ENDS.has(name))
      .map(([name, seconds]) => ({ role, name, label: classLabel(name), share: seconds / bubbles.total_seconds })));
  return losses.reduce<Loss | null>((most, loss) => (loss.share > (most?.share ?? 0) ? loss : most), null);
}
