/** The time axis: which instants get a tick, and what stands beside it. Pure. */

import type { Extent } from "./view.ts";

export interface Tick {
  /** Unix seconds. */
  readonly at: number;
  readonly label: string;
}

/** Round steps in seconds, as clocks have them. */
const STEPS = [
  0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200,
  14400, 21600, 43200, 86400,
];
const DAY_SECONDS = 86400;

/** At most `count` ticks at round times since `origin`. */
export function ticksOf(window: Extent, count: number, origin: number): Tick[] {
  const least = (window.to - window.from) / Math.max(1, count);
  const step = STEPS.find((candidate) => candidate >= least) ?? DAY_SECONDS * Math.ceil(least / DAY_SECONDS);
  const first = Math.ceil((window.from - origin) / step);
  const last = Math.floor((window.to - origin) / step);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => {
    const seconds = (first + index) * step;
    return { at: origin + seconds, label: tickLabel(seconds, step) };
  });
}

/** 1:05, 0:12.5, 2:03:00: as fine as the step between ticks needs. */
export function tickLabel(secondsFromOrigin: number, step: number): string {
  const sign = secondsFromOrigin < -1e-9 ? "−" : "";
  const decimals = step >= 1 ? 0 : step >= 0.1 ? 1 : step >= 0.01 ? 2 : 3;
  const total = Number(Math.abs(secondsFromOrigin).toFixed(decimals));
  const hours = Math.floor(total / 3600);
  const minutes = Math.floor((total % 3600) / 60);
  const rest = (total % 60).toFixed(decimals).padStart(decimals === 0 ? 2 : 3 + decimals, "0");
  if (hours > 0) return `${sign}${hours}:${String(minutes).padStart(2, "0")}:${rest}`;
  return `${sign}${minutes}:${rest}`;
}
