/** Where things lie on the timeline's canvas, in CSS pixels. */

export const AXIS_HEIGHT = 38;
export const QUEUE_HEIGHT = 56;
/** One line of labels beneath the lanes. */
export const MARK_HEIGHT = 14;
/** The column of lane names, on a wide canvas and on a phone's. */
export const LABEL_WIDTH_WIDE = 132;
export const LABEL_WIDTH_NARROW = 66;
const NARROW_BELOW = 640;
const ROW_HEIGHT = 26;
const DENSE_ROW_HEIGHT = 15;
/** From this many lanes on rows are dense: a node of eight GPUs with its reward lanes still gets wide ones. */
const DENSE_FROM_LANES = 20;

export interface Layout {
  readonly width: number;
  readonly labelWidth: number;
  readonly rowHeight: number;
  readonly rowsTop: number;
  readonly rowsBottom: number;
  readonly queueTop: number;
  readonly height: number;
}

/** `numMarkRows`: lines of labels between the lanes and the queue depths. */
export function layoutOf(width: number, numLanes: number, hasQueues: boolean, numMarkRows = 0): Layout {
  const rowHeight = numLanes >= DENSE_FROM_LANES ? DENSE_ROW_HEIGHT : ROW_HEIGHT;
  const rowsBottom = AXIS_HEIGHT + numLanes * rowHeight;
  const queueTop = rowsBottom + numMarkRows * MARK_HEIGHT + 8;
  return {
    width,
    labelWidth: width < NARROW_BELOW ? LABEL_WIDTH_NARROW : LABEL_WIDTH_WIDE,
    rowHeight,
    rowsTop: AXIS_HEIGHT,
    rowsBottom,
    queueTop,
    height: queueTop + (hasQueues ? QUEUE_HEIGHT : 0),
  };
}

/** The upper edge of a lane's row. */
export function rowTop(layout: Layout, lane: number): number {
  return layout.rowsTop + lane * layout.rowHeight;
}

/** The lane at a height, or null above the rows; it may be beyond the last one. */
export function laneAt(layout: Layout, y: number): number | null {
  return y < layout.rowsTop ? null : Math.floor((y - layout.rowsTop) / layout.rowHeight);
}
