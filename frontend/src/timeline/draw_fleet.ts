/** Painting fleet rows: stacked areas of the share of a role's lanes in each state, idleness hatched on top. */

import type { LaneStates } from "../api/schema.ts";
import { words } from "../base/format.ts";
import { classOf, SPAN_CLASSES } from "./classes.ts";
import type { FleetRow } from "./fleet_rows.ts";
import { FLEET_HEIGHT, fleetTop } from "./layout.ts";
import { fitted, fontOf, type Scene, timeToX } from "./scene.ts";

/** Above and below the areas of a row, in CSS pixels. */
const PADDING = 3;

export interface StateArea {
  readonly kind: string;
  /** Shares of the role's lanes by bucket: the lower and the upper edge. */
  readonly low: readonly number[];
  readonly high: readonly number[];
}

/** One area on the other in the order of the legend, idleness last; states that never occur are left out. */
export function areasOf(states: LaneStates, role: string): StateArea[] {
  const found = states.roles.find((one) => one.role === role);
  if (!found) return [];
  let low = new Array<number>(states.num_buckets).fill(0);
  return SPAN_CLASSES.flatMap(({ kind }) => {
    const lanes = found.states[kind];
    if (!lanes) return [];
    const high = low.map((share, bucket) => share + (lanes[bucket] ?? 0) / found.num_lanes);
    const area = { kind, low, high };
    low = high;
    return [area];
  });
}

export function drawFleet(scene: Scene, rows: readonly FleetRow[], states: LaneStates | null): void {
  rows.forEach(({ role }, row) => {
    const top = fleetTop(scene.layout, row) + PADDING;
    const { labelWidth, width } = scene.layout;
    scene.context.fillStyle = scene.theme.colour("--line");
    scene.context.fillRect(labelWidth, top + FLEET_HEIGHT - 2 * PADDING, width - labelWidth, 1);
    if (states) for (const area of areasOf(states, role)) drawArea(scene, states, area, top);
  });
}

function drawArea(scene: Scene, states: LaneStates, { kind, low, high }: StateArea, top: number): void {
  const { context, theme, view } = scene;
  const height = FLEET_HEIGHT - 2 * PADDING;
  const y = (share: number) => top + height * (1 - share);
  const x = (bucket: number) => timeToX(scene, states.start + bucket * states.bucket_seconds);
  const first = Math.max(0, Math.floor((view.from - states.start) / states.bucket_seconds));
  const past = Math.min(states.num_buckets, Math.ceil((view.to - states.start) / states.bucket_seconds));
  if (first >= past) return;
  context.fillStyle = kind === "idle" ? theme.idle : theme.colour(classOf(kind).colour);
  context.beginPath();
  for (let bucket = first; bucket < past; bucket += 1) {
    context.lineTo(x(bucket), y(high[bucket] ?? 0));
    context.lineTo(x(bucket + 1), y(high[bucket] ?? 0));
  }
  for (let bucket = past - 1; bucket >= first; bucket -= 1) {
    context.lineTo(x(bucket + 1), y(low[bucket] ?? 0));
    context.lineTo(x(bucket), y(low[bucket] ?? 0));
  }
  context.fill();
}

export function drawFleetLabels(scene: Scene, rows: readonly FleetRow[]): void {
  const { context, theme, layout } = scene;
  rows.forEach(({ role, numLanes, isOpen }, row) => {
    const top = fleetTop(layout, row);
    context.fillStyle = theme.colour("--ink");
    context.font = fontOf(scene, 12, "600");
    context.fillText(
      fitted(context, `${isOpen ? "▾" : "▸"} ${words(role || "other")}`, layout.labelWidth - 8),
      0,
      top + 21,
    );
    context.fillStyle = theme.colour("--ink-3");
    context.font = fontOf(scene, 10.5);
    context.fillText(`${numLanes} lanes`, 13, top + 38);
  });
}
