/** How long to wait before connecting again. */

const FIRST_MILLISECONDS = 400;
const LONGEST_MILLISECONDS = 15_000;

/** Delay after `failures` failed connections: doubling, capped, spread by up to a quarter so that many browsers do not
 * return in one instant after a server restart. `random` is in [0, 1). */
export function reconnectDelay(failures: number, random: number): number {
  const doubled = FIRST_MILLISECONDS * 2 ** Math.min(failures, 10);
  return Math.round(Math.min(doubled, LONGEST_MILLISECONDS) * (0.75 + random / 4));
}
