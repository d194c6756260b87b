/** The curves of a panel, as fine as it is wide: read when it comes into view, and a zoomed window anew. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { messageOf } from "../api/client.ts";
import type { Curves } from "../api/schema.ts";
import { type Curve, curveOf, spliced } from "../live/growing_curve.ts";
import type { MetricStore } from "../live/metric_store.ts";
import { type XAxis, xValues } from "./axis.ts";
import type { Range } from "./drag_zoom.ts";

/** Points are asked for in steps of so many, so that panels of nearly one width share a request. */
const STEP_POINTS = 250;

/** The points that a panel of so many CSS pixels asks for: one each. */
export function pointsFor(width: number): number {
  return Math.max(1, Math.ceil(width / STEP_POINTS)) * STEP_POINTS;
}

export interface Steps {
  readonly from_step: number;
  readonly to_step: number;
}

/** The optimizer steps that a window of the x axis holds, by a curve that spans it. */
export function stepsIn(curve: Curve, axis: XAxis, origin: number, zoom: Range): Steps {
  const x = xValues(curve, axis, origin);
  const before = x.findLastIndex((value) => value <= zoom.from);
  const after = x.findIndex((value) => value >= zoom.to);
  return {
    from_step: curve.optimizer_step[before] ?? 0,
    to_step: curve.optimizer_step[after] ?? curve.optimizer_step.at(-1) ?? 0,
  };
}

interface Asked {
  readonly store: MetricStore;
  readonly keys: readonly string[];
  /** CSS pixels while the panel is in view, else 0. */
  readonly width: number;
  readonly axis: XAxis;
  readonly origin: number;
  readonly zoom: Range | null;
}

/** The curves by key, those that were read; they stand still while the panel is out of view. */
export function usePanelCurves(asked: Asked): ReadonlyMap<string, Curve> {
  const { store, keys, width } = asked;
  const version = store.version.value;
  const shown = useRef(version);
  if (width > 0) shown.current = version;
  useEffect(() => {
    if (width > 0) store.ask(keys, pointsFor(width));
  }, [store, keys.join(), width, version]);
  const finer = useFinerWindow(asked);
  return useMemo(() => {
    const curves = new Map<string, Curve>();
    for (const key of keys) {
      const curve = store.stored(key);
      const window = finer?.[key];
      if (curve) curves.set(key, window && asked.zoom ? spliced(curve, curveOf(window)) : curve);
    }
    return curves;
  }, [store, keys.join(), shown.current, finer, asked.zoom]);
}

/** The zoomed window as it was last read; null where nothing finer is to be had. */
function useFinerWindow({ store, keys, width, axis, origin, zoom }: Asked): Curves["series"] | null {
  const [finer, setFiner] = useState<Curves["series"] | null>(null);
  const curve = keys.map((key) => store.stored(key)).find((one) => one !== undefined);
  useEffect(() => {
    if (!zoom || !curve || width === 0 || !store.isThinned(keys)) return undefined;
    let isWanted = true;
    const window = { keys, max_points: pointsFor(width), ...stepsIn(curve, axis, origin, zoom) };
    store.readWindow(window).then(
      ({ series }) => isWanted && setFiner(series),
      (error: unknown) => console.warn(`a window of ${keys.join(", ")} could not be read: ${messageOf(error)}`),
    );
    return () => {
      isWanted = false;
    };
  }, [store, keys.join(), width > 0, axis, zoom?.from, zoom?.to, curve === undefined]);
  return finer;
}
