/** Where things lie on the timeline's canvas, in CSS pixels. */

export const AXIS_HEIGHT = 38;
export const QUEUE_HEIGHT = 56;
/** One line of labels beneath the lanes. */
export const MARK_HEIGHT = 14;
/** The column of lane names, on a wide canvas and on a phone's. */
export const LABEL_WIDTH_WIDE = 132;
export const LABEL_WIDTH_NARROW = 66;
/** The row of all lanes of a role. */
export const FLEET_HEIGHT = 58;
const NARROW_BELOW = 640;
const ROW_HEIGHT = 26;
const DENSE_ROW_HEIGHT = 15;
/** The strip at the top of a lane's row with what its plan promised. The row stays as high, so that nothing moves. */
const [PLAN_HEIGHT, DENSE_PLAN_HEIGHT] = [6, 4];
/** From this many lanes on rows are dense: a node of eight GPUs with its reward lanes still gets wide ones. */
const DENSE_FROM_LANES = 20;

export interface Layout {
  readonly width: number;
  readonly labelWidth: number;
  readonly rowHeight: number;
  /** The strip at the top of each lane's row, for its plan. */
  readonly planHeight: number;
  readonly rowsTop: number;
  readonly rowsBottom: number;
  readonly queueTop: number;
  readonly height: number;
  /** For each fleet row, from top to bottom, the number of lanes above it. */
  readonly fleetAfter: readonly number[];
}

/** The width of the column of lane names on a canvas of that width. */
export function labelWidthOf(width: number): number {
  return isNarrow(width) ? LABEL_WIDTH_NARROW : LABEL_WIDTH_WIDE;
}

/** A phone's canvas. */
export function isNarrow(width: number): boolean {
  return width < NARROW_BELOW;
}

/** `numMarkRows`: lines of labels between the lanes and the queue depths. */
export function layoutOf(
  width: number,
  numLanes: number,
  hasQueues: boolean,
  numMarkRows = 0,
  fleetAfter: readonly number[] = [],
  hasPlan = false,
): Layout {
  const isDense = numLanes >= DENSE_FROM_LANES;
  const planHeight = hasPlan ? (isDense ? DENSE_PLAN_HEIGHT : PLAN_HEIGHT) : 0;
  const rowHeight = isDense ? DENSE_ROW_HEIGHT : ROW_HEIGHT;
  const rowsBottom = AXIS_HEIGHT + numLanes * rowHeight + fleetAfter.length * FLEET_HEIGHT;
  const queueTop = rowsBottom + numMarkRows * MARK_HEIGHT + 8;
  return {
    width,
    labelWidth: labelWidthOf(width),
    rowHeight,
    planHeight,
    rowsTop: AXIS_HEIGHT,
    rowsBottom,
    queueTop,
    height: queueTop + (hasQueues ? QUEUE_HEIGHT : 0),
    fleetAfter,
  };
}

/** The upper edge of a lane's row. */
export function rowTop(layout: Layout, lane: number): number {
  const numAbove = layout.fleetAfter.filter((numLanes) => numLanes <= lane).length;
  return layout.rowsTop + lane * layout.rowHeight + numAbove * FLEET_HEIGHT;
}

/** Where a lane's spans lie in its row: beneath its plan. */
export function spansBox(layout: Layout, lane: number): { readonly top: number; readonly height: number } {
  return { top: rowTop(layout, lane) + layout.planHeight + 2, height: layout.rowHeight - layout.planHeight - 4 };
}

/** The upper edge of a fleet row. */
export function fleetTop(layout: Layout, row: number): number {
  return layout.rowsTop + (layout.fleetAfter[row] ?? 0) * layout.rowHeight + row * FLEET_HEIGHT;
}

/** The fleet row at a height, or null where there is none. */
export function fleetAt(layout: Layout, y: number): number | null {
  const row = layout.fleetAfter.findLastIndex((_, index) => y >= fleetTop(layout, index));
  return row >= 0 && y < fleetTop(layout, row) + FLEET_HEIGHT ? row : null;
}

/** The lane at a height, or null above the rows and in a fleet row; it may be beyond the last one. */
export function laneAt(layout: Layout, y: number): number | null {
  if (y < layout.rowsTop || fleetAt(layout, y) !== null) return null;
  const numAbove = layout.fleetAfter.filter((_, row) => fleetTop(layout, row) < y).length;
  return Math.floor((y - layout.rowsTop - numAbove * FLEET_HEIGHT) / layout.rowHeight);
}
