/** The axes of parallel coordinates: where each point lies on each, and which points lie within what was brushed.
 *
 * Places are shares of an axis, 0 at its bottom and 1 at its top. A point has no place on an axis whose value it lacks.
 */

import type { Sweep, SweepPlan, SweptPoint } from "../../api/schema.ts";
import { number } from "../../base/format.ts";
import { type Json, sameJson } from "../../base/paths.ts";
import { valueText } from "./sweep_words.ts";

export interface Tick {
  readonly at: number;
  readonly label: string;
}

export interface Axis {
  readonly id: string;
  /** The last name of the path. */
  readonly label: string;
  readonly ticks: readonly Tick[];
  readonly place: (point: SweptPoint) => number | null;
}

/** From where to where of an axis, as shares of it. */
export type Brush = readonly [low: number, high: number];
/** By axis. */
export type Brushes = ReadonlyMap<string, Brush>;
type Range = SweepPlan["space"][string];

export const OBJECTIVE = "objective";
/** Labels of more values would overlap. */
const MAX_TICKS = 8;

/** An axis for each swept setting, and the objective at the right. */
export function axesOf({ plan, points }: Sweep): readonly Axis[] {
  const settings = Object.entries(plan.space).map(([path, range]) => settingAxis(path, range, points));
  return [...settings, objectiveAxis(plan.objective.metric, points)];
}

function settingAxis(path: string, range: Range, points: readonly SweptPoint[]): Axis {
  const label = path.split(".").at(-1) ?? path;
  if (range.kind === "choice") return choiceAxis(path, label, range.values as readonly Json[]);
  const scale = range.kind === "log_uniform" ? Math.log : (value: number) => value;
  const [low, high] = [scale(range.low), scale(range.high)];
  const share = (value: number) => (scale(value) - low) / (high - low);
  const known = [...new Set(points.map((point) => Number(point.values[path])))].sort((a, b) => a - b);
  // Of many draws the ends say more than each.
  const values = known.length <= MAX_TICKS ? known : [range.low, range.high];
  return {
    id: path,
    label,
    ticks: values.map((value) => ({ at: share(value), label: number(value) })),
    place: (point) => share(Number(point.values[path])),
  };
}

function choiceAxis(id: string, label: string, values: readonly Json[]): Axis {
  const share = (index: number) => (values.length === 1 ? 0.5 : index / (values.length - 1));
  const every = Math.ceil(values.length / MAX_TICKS);
  return {
    id,
    label,
    ticks: values.flatMap((value, index) =>
      index % every === 0 ? [{ at: share(index), label: valueText(value) }] : [],
    ),
    place: (point) => {
      const index = values.findIndex((value) => sameJson(value, point.values[id] as Json));
      return index < 0 ? null : share(index);
    },
  };
}

function objectiveAxis(metric: string, points: readonly SweptPoint[]): Axis {
  const measured = points.flatMap(({ value }) => (value === null ? [] : [value]));
  const [low, high] = [Math.min(...measured), Math.max(...measured)];
  const share = (value: number) => (high === low ? 0.5 : (value - low) / (high - low));
  return {
    id: OBJECTIVE,
    label: metric,
    ticks: [...new Set(measured.length > 0 ? [low, high] : [])].map((value) => ({
      at: share(value),
      label: number(value),
    })),
    place: ({ value }) => (value === null ? null : share(value)),
  };
}

/** How good each point is among all, from 0 to 1; null before its first value. */
export function goodness({ plan, points }: Sweep): (point: SweptPoint) => number | null {
  const { place } = objectiveAxis(plan.objective.metric, points);
  return (point) => {
    const share = place(point);
    return share === null || plan.objective.maximise ? share : 1 - share;
  };
}

/** Whether the point lies within every brush. */
export function isWithin(point: SweptPoint, axes: readonly Axis[], brushes: Brushes): boolean {
  return axes.every(({ id, place }) => {
    const brush = brushes.get(id);
    if (brush === undefined) return true;
    const share = place(point);
    return share !== null && brush[0] <= share && share <= brush[1];
  });
}

/** The brush between two places of the pointer, within the axis; null for one too small to have been meant. */
export function brushBetween(from: number, to: number): Brush | null {
  const [low, high] = [Math.max(0, Math.min(from, to)), Math.min(1, Math.max(from, to))];
  return high - low < LEAST_BRUSH ? null : [low, high];
}

/** A click whose pointer moved a little. */
const LEAST_BRUSH = 0.02;
