/** Lane time by class: the order of its classes, how much of it was work, and where most of it was lost. Pure.
 *
 * Sums by class are the server's (`/bubbles`); what is added up here is held against the bubble ledger by a test.
 */

import type { Bubbles } from "../api/schema.ts";
import { classLabel, parseClass, SPAN_CLASSES } from "./classes.ts";
import { roleRank } from "./lane_tracks.ts";

/** Seconds by class: a span kind, `idle:<cause>`, or `unaccounted`. */
export type Seconds = Bubbles["by_class"];

const ORDER = SPAN_CLASSES.map((known) => known.kind);

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
  const idle = total(Object.fromEntries(Object.entries(classes).filter(([name]) => isIdle(name))));
  return all > 0 ? 1 - idle / all : 0;
}

export interface Loss {
  readonly role: string;
  readonly name: string;
  readonly label: string;
  /** Share of all lane time. */
  readonly share: number;
}

/** Idle causes of a run's beginning and end, which are no bottleneck. */
const ENDS = new Set(["idle:start_up", "idle:drain"]);

/** Roles with their classes, in the order of the timeline. */
export function roles(bubbles: Bubbles): [string, Seconds][] {
  return Object.entries(bubbles.by_role).sort(([a], [b]) => roleRank(a) - roleRank(b));
}

/** The cause on which the lanes that generate and train lost most between the run's beginning and its end; null where
 * nothing was lost. Reward lanes are CPU slots, which may well wait. */
export function largestLoss(bubbles: Bubbles): Loss | null {
  const losses = roles(bubbles)
    .filter(([role]) => role === "trainer" || role === "rollout")
    .flatMap(([role, classes]) =>
      Object.entries(classes)
        .filter(([name]) => isIdle(name) && !ENDS.has(name))
        .map(([name, seconds]) => ({ role, name, label: classLabel(name), share: seconds / bubbles.total_seconds })),
    );
  return losses.reduce<Loss | null>((most, loss) => (loss.share > (most?.share ?? 0) ? loss : most), null);
}
