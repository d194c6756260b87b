/** What the Metrics page shows, in its address: axes, smoothing, the window, pinned panels and the search. A link shows
 * another what its sender saw. */

import { useState } from "preact/hooks";
import type { Range } from "../../charts/drag_zoom.ts";
import { type ChartChoice, useChartView } from "../../charts/tools.tsx";

export interface MetricsView {
  readonly choice: ChartChoice;
  readonly zoom: Range | null;
  /** Ids of panels, in the order in which they were pinned. */
  readonly pins: readonly string[];
  readonly search: string;
}

/** The view of an address; what it leaves out is as the browser remembers it, or not set. */
export function viewOf(query: string, remembered: ChartChoice): MetricsView {
  const given = new URLSearchParams(query);
  const [from = Number.NaN, to = Number.NaN] = (given.get("window") ?? "").split("~").map(Number.parseFloat);
  const smoothing = Number.parseFloat(given.get("smoothing") ?? "");
  return {
    choice: {
      axis: oneOf(["batch", "step", "wall"], given.get("axis")) ?? remembered.axis,
      scale: oneOf(["linear", "log"], given.get("scale")) ?? remembered.scale,
      kernel: oneOf(["ema", "gaussian"], given.get("kernel")) ?? remembered.kernel,
      smoothing: smoothing >= 0 && smoothing <= 1 ? smoothing : remembered.smoothing,
    },
    zoom: from < to ? { from, to } : null,
    pins: given.getAll("pin"),
    search: given.get("find") ?? "",
  };
}

/** The query of a view. */
export function queryOf({ choice, zoom, pins, search }: MetricsView): string {
  const query = new URLSearchParams({ axis: choice.axis });
  if (choice.scale !== "linear") query.set("scale", choice.scale);
  if (choice.smoothing > 0) {
    query.set("smoothing", String(choice.smoothing));
    query.set("kernel", choice.kernel);
  }
  if (zoom) query.set("window", `${short(zoom.from)}~${short(zoom.to)}`);
  for (const pin of pins) query.append("pin", pin);
  if (search) query.set("find", search);
  return `?${query}`;
}

/** Six digits place a window to a thousandth of a pixel. */
const short = (value: number) => String(Number(value.toPrecision(6)));

function oneOf<T extends string>(known: readonly T[], text: string | null): T | undefined {
  return known.find((one) => one === text);
}

export function useMetricsView(): [MetricsView, (change: Partial<MetricsView>) => void] {
  const [remembered, remember] = useChartView();
  const [view, setView] = useState(() => viewOf(location.search, remembered));
  const change = (changed: Partial<MetricsView>) => {
    const next = { ...view, ...changed };
    // A window of batches means nothing on another axis.
    const shown = next.choice.axis === view.choice.axis ? next : { ...next, zoom: null };
    if (changed.choice) remember(changed.choice);
    history.replaceState(null, "", `${location.pathname}${queryOf(shown)}${location.hash}`);
    setView(shown);
  };
  return [view, change];
}
