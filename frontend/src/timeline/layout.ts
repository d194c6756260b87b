/** Where things lie on the timeline's canvas, in CSS pixels. */

export const AXIS_HEIGHT = 38;
export const QUEUE_HEIGHT = 56;
export const LABEL_WIDTH_WIDE = 132;
export const LABEL_WIDTH_NARROW = 66;
const ROW_HEIGHT = 26;
const DENSE_ROW_HEIGHT = 15;
const DENSE_FROM_LANES = 20;

export interface Layout {
  readonly width: number;
  readonly labelWidth: number;
  readonly rowHeight: number;
  readonly rowsTop: number;
  readonly queueTop: number;
  readonly height: number;
}

export function layout(width: number, numLanes: number, hasQueues: boolean): Layout {
  const rowHeight = numLanes >= DENSE_FROM_LANES ? DENSE_ROW_HEIGHT : ROW_HEIGHT;
  const queueTop = AXIS_HEIGHT + numLanes * rowHeight + 8;
  return {
    width,
    labelWidth: width < 640 ? LABEL_WIDTH_NARROW : LABEL_WIDTH_WIDE,
    rowHeight,
    rowsTop: AXIS_HEIGHT,
    queueTop,
    height: queueTop + (hasQueues ? QUEUE_HEIGHT : 0),
  };
}
