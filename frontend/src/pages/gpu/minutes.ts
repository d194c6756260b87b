/** The last hours of a GPU as its page draws them, and what they say of slow-downs. */

import type { GpuMinutes, MinutesColumn } from "../../api/schema.ts";
import { type Timed, withHoles } from "../../charts/stacks.ts";

export const MINUTE = 60;

/** Mean, low and high of a quantity, times `factor`, with holes where no minute was reported; null where the card never
 * told it. */
export function curve(minutes: GpuMinutes, name: string, factor = 1): Timed | null {
  const column = minutes.values[name];
  if (column === undefined) return null;
  const scaled = ({ mean, low, high }: MinutesColumn) =>
    [mean, low, high].map((values) => values.map((value) => (value === null ? null : value * factor)));
  return withHoles({ at: minutes.at, columns: scaled(column) }, MINUTE);
}

export interface SlowDown {
  readonly reason: string;
  /** Of all readings, those in which it held the clocks back. */
  readonly share: number;
}

/** What held the clocks back, the most frequent first. */
export function slowDowns(minutes: GpuMinutes): SlowDown[] {
  const all = minutes.num_readings.reduce((sum, number) => sum + number, 0);
  return Object.entries(minutes.throttled)
    .map(([reason, shares]) => {
      const readings = shares.reduce((sum, share, index) => sum + share * (minutes.num_readings[index] ?? 0), 0);
      return { reason, share: all === 0 ? 0 : readings / all };
    })
    .sort((one, other) => other.share - one.share);
}

/** Idle cards lower their clocks, which is no slow-down. */
const BUSY_ABOVE = 0.5;

/** The mean clock of the minutes in which the GPU was busy, as a share of the highest; null where it never was, or the
 * card tells no clock. */
export function clockUnderLoad(minutes: GpuMinutes, highest: number | null | undefined): number | null {
  const [clocks, use] = [minutes.values.sm_clock?.mean, minutes.values.utilisation?.mean];
  if (!highest || clocks === undefined || use === undefined) return null;
  const busy = clocks.filter((clock, index): clock is number => clock !== null && (use[index] ?? 0) > BUSY_ABOVE);
  return busy.length === 0 ? null : busy.reduce((sum, clock) => sum + clock, 0) / busy.length / highest;
}
