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

/** A lane of a paused run neither works nor waits for work. */
export const PAUSE = "pause";
const KNOWN: ReadonlySet<string> = new Set(ORDER);

export const isIdle = (name: string) => parseClass(name).known.kind === "idle";

/** Any kind of span but idling and pauses; what no span covers may have been anything. */
export const isWork = (name: string) => name !== PAUSE && !isIdle(name) && KNOWN.has(parseClass(name).known.kind);

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
  return sumOf(Object.entries(classes));
}

/** Lane time that was not paused: what every share on the page is a share of. */
export function unpaused(classes: Seconds): number {
  return sumOf(Object.entries(classes).filter(([name]) => name !== PAUSE));
}

/** The share of work in the lane time that was not paused; 0 where none has passed. `busy_share` in Python is the same. */
export function busyShare(classes: Seconds): number {
  const all = unpaused(classes);
  return all > 0 ? sumOf(Object.entries(classes).filter(([name]) => isWork(name))) / all : 0;
}

function sumOf(entries: readonly (readonly [string, number])[]): number {
  return entries.reduce((sum, [, seconds]) => sum + seconds, 0);
}

export interface Loss {
  readonly role: string;
  readonly name: string;
  readonly label: string;
  /** In lane-seconds. */
  readonly seconds: number;
  /** Share of the unpaused time of the role's lanes, as in the waterfall. */
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
        .map(([name, seconds]) => ({
          role,
          name,
          label: classLabel(name),
          seconds,
          share: seconds / unpaused(classes),
        })),
    );
  return losses.reduce<Loss | null>((most, loss) => (loss.seconds > (most?.seconds ?? 0) ? loss : most), null);
}
