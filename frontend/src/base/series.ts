/** The colours of a chart's series, in the order in which they are given out. The first five are drawn solid and the
 * others dashed, so that any two differ for every kind of colour vision: `series.test.ts` computes it. */

export const NUM_SERIES = 10;
const NUM_SOLID = 5;
/** Lengths of dash and gap in CSS pixels. */
const DASH: readonly number[] = [6, 3];

/** The custom property with the colour of the series at `index`; beyond the tenth they repeat. */
export function seriesColour(index: number): string {
  return `--series-${(index % NUM_SERIES) + 1}`;
}

/** The dash of a line of that colour; an empty one is a solid line, as the canvas has it. */
export function seriesDash(colour: string): number[] {
  const number = Number(/^--series-(\d+)$/.exec(colour)?.[1] ?? 0);
  return number > NUM_SOLID ? [...DASH] : [];
}
