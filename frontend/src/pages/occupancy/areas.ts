/** The areas of the occupancy chart: their colours, and what they are called. */

import type { Occupancy, OccupancyArea } from "../../api/schema.ts";
import { words } from "../../base/format.ts";
import { seriesColour } from "../../base/series.ts";
import { bucketAt } from "../../charts/stacks.ts";

/** The colour of each area, by its place in the list: projects in turn, the others as on the map. */
export function areaColour(areas: readonly OccupancyArea[], index: number): string {
  const area = areas[index];
  if (area === undefined) throw new Error(`there is no area ${index}`);
  if (area.category !== "project") return `--state-${area.category === "idle" ? "available" : area.key}`;
  return area.key === "" ? "--ink-3" : seriesColour(index);
}

export function areaName({ name, category }: OccupancyArea): string {
  return category === "project" ? name : words(name.replaceAll(" ", "_"));
}

/** What the chart says, in a sentence: the shares of the whole window, the largest first. */
export function inWords({ areas }: Occupancy): string {
  const all = areas.reduce((sum, area) => sum + area.lane_hours, 0);
  const shares = [...areas]
    .sort((one, other) => other.lane_hours - one.lane_hours)
    .map((area) => `${areaName(area)} ${all === 0 ? 0 : Math.round((area.lane_hours / all) * 100)} %`);
  return `Lanes over time: ${shares.join(", ")}`;
}

/** The most rows of the table that stands for the chart. */
const MOST_ROWS = 24;

export interface TableRow {
  /** Begin, in Unix seconds. */
  readonly at: number;
  readonly lanes: readonly number[];
}

/** The chart's numbers with neighbouring buckets put together until a person can read them. */
export function tableRows({ at, areas }: Occupancy): TableRow[] {
  const each = Math.ceil(at.length / MOST_ROWS);
  return at
    .filter((_, index) => index % each === 0)
    .map((time) => {
      const from = bucketAt(at, time) ?? 0;
      const lanes = areas.map((area) => {
        const part = area.lanes.slice(from, from + each);
        return part.reduce((sum, value) => sum + value, 0) / Math.max(1, part.length);
      });
      return { at: time, lanes };
    });
}
