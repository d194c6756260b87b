/** The window of time a timeline shows, and how wheel, drag and keys move it. Pure; times are Unix seconds. */

export interface View {
  readonly from: number;
  readonly to: number;
  /** Keep the right edge at the present. */
  readonly follow: boolean;
}

export interface Extent {
  readonly from: number;
  readonly to: number;
}

const SHORTEST_SECONDS = 0.005;
/** Space after the newest span, as a share of the window, so that what arrives next is seen arriving. */
const LEAD = 0.03;

/** Zoom by `factor` (< 1: closer) about the instant `at`, which stays where it is. */
export function zoomed(view: View, factor: number, at: number, extent: Extent): View {
  const widest = (extent.to - extent.from) * 1.2 + 1;
  const width = Math.min(Math.max((view.to - view.from) * factor, SHORTEST_SECONDS), widest);
  if (view.follow) return { from: view.to - width, to: view.to, follow: true };
  const share = (at - view.from) / (view.to - view.from);
  const from = at - share * width;
  return clamped({ from, to: from + width, follow: false }, extent);
}

/** Move by `seconds`; moving by hand stops following, unless it reaches the present again. */
export function panned(view: View, seconds: number, extent: Extent): View {
  return clamped({ from: view.from + seconds, to: view.to + seconds, follow: false }, extent);
}

/** Everything there is. */
export function fitted(extent: Extent, follow: boolean): View {
  const margin = (extent.to - extent.from) * LEAD;
  return { from: extent.from - margin * 0.3, to: extent.to + margin, follow };
}

/** The same width, its right edge just after the present. */
export function followed(view: View, extent: Extent): View {
  const width = view.to - view.from;
  const to = extent.to + width * LEAD;
  return { from: to - width, to, follow: true };
}

/** At least a quarter of the window always shows recorded time. */
function clamped(view: View, extent: Extent): View {
  const width = view.to - view.from;
  const from = Math.min(Math.max(view.from, extent.from - width * 0.75), extent.to - width * 0.25);
  return { from, to: from + width, follow: view.follow };
}

/** Round tick instants for about `count` ticks, relative to `origin`. */
export function ticks(view: View, count: number, origin: number): { at: number; step: number }[] {
  const rough = (view.to - view.from) / Math.max(1, count);
  const steps = [
    0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200,
    14400, 21600, 43200, 86400,
  ];
  const step = steps.find((candidate) => candidate >= rough) ?? 86400 * Math.ceil(rough / 86400);
  const first = Math.ceil((view.from - origin) / step);
  const last = Math.floor((view.to - origin) / step);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => ({
    at: origin + (first + index) * step,
    step,
  }));
}

/** A tick's label: 1:05, 12.5, 2:03:00, as fine as its step needs. */
export function tickLabel(secondsFromOrigin: number, step: number): string {
  const sign = secondsFromOrigin < -1e-9 ? "−" : "";
  const value = Math.abs(secondsFromOrigin);
  const decimals = step >= 1 ? 0 : step >= 0.1 ? 1 : step >= 0.01 ? 2 : 3;
  const total = Number(value.toFixed(decimals));
  const hours = Math.floor(total / 3600);
  const minutes = Math.floor((total % 3600) / 60);
  const rest = (total % 60).toFixed(decimals).padStart(decimals === 0 ? 2 : 3 + decimals, "0");
  if (hours > 0) return `${sign}${hours}:${String(minutes).padStart(2, "0")}:${rest}`;
  return `${sign}${minutes}:${rest}`;
}
