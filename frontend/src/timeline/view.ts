/** The window of time that a timeline shows, and how wheel, drag and keys move it. Pure; times are Unix seconds. */

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

/** Closer than this a window shows nothing but rounding: Unix time in a double is good for a microsecond. */
const SHORTEST_SECONDS = 0.005;
/** Space after the newest span, as a share of the window, so that what arrives next is seen arriving. */
const LEAD = 0.03;
/** The first window of a live run: a few batches, where the whole run would be a blur. */
const FIRST_WINDOW_SECONDS = 60;

/** The window of a timeline that nobody has moved yet. */
export function firstView(extent: Extent, isLive: boolean): View {
  if (!isLive || extent.to - extent.from < FIRST_WINDOW_SECONDS) return fitted(extent, isLive);
  return followed({ from: extent.to - FIRST_WINDOW_SECONDS, to: extent.to, follow: true }, extent);
}

/** Zoom by `factor` (< 1: closer) about the instant `at`, which stays where it is. */
export function zoomed(view: View, factor: number, at: number, extent: Extent): View {
  const widest = (extent.to - extent.from) * 1.2 + 1;
  const width = Math.min(Math.max((view.to - view.from) * factor, SHORTEST_SECONDS), widest);
  if (view.follow) return { from: view.to - width, to: view.to, follow: true };
  const share = (at - view.from) / (view.to - view.from);
  const from = at - share * width;
  return clamped({ from, to: from + width, follow: false }, extent);
}

/** Move by `seconds`; moving by hand stops following. */
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
