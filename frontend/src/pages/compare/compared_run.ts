/** Runs that are compared: the curves of each, and curves and samples of several side by side. */

import { api } from "../../api/endpoints.ts";
import type { Run, Sample } from "../../api/schema.ts";
import { unixSeconds } from "../../base/format.ts";
import { seriesColour } from "../../base/series.ts";
import { smooth } from "../../base/smoothing.ts";
import { type ChartColumns, chartColumns, join, xValues } from "../../charts/axis.ts";
import { METRIC_PANELS } from "../../charts/panels.ts";
import type { ChartChoice } from "../../charts/tools.tsx";
import { type Curve, curveOf } from "../../live/growing_curve.ts";
import { OVERVIEW_POINTS } from "../../live/metric_store.ts";

export interface ComparedRun {
  readonly run: Run;
  readonly curves: ReadonlyMap<string, Curve>;
  /** Custom property that holds its colour. */
  readonly colour: string;
}

/** Colours of series in `tokens.css`; the seventh run has the first one's again. */

export async function readRun(id: string, index: number): Promise<ComparedRun> {
  const [run, metrics] = await Promise.all([
    api.getRun(id),
    api.metrics(id, { keys: [], max_points: OVERVIEW_POINTS }),
  ]);
  const curves = new Map(Object.entries(metrics.series).map(([key, series]) => [key, curveOf(series)]));
  return { run, curves, colour: seriesColour(index) };
}

/** The metrics that any of the runs has: those of curated panels in the panels' order, then others by name. */
export function metricsOf(runs: readonly ComparedRun[]): string[] {
  const known = new Set(runs.flatMap((compared) => [...compared.curves.keys()]));
  const curated = METRIC_PANELS.flatMap((panel) => panel.keys).filter((key) => known.has(key));
  return [...new Set([...curated, ...[...known].sort()])];
}

/** The runs that have the metric, and their curves of it on one x; wall time counts from each run's own start. */
export function overlaid(runs: readonly ComparedRun[], metric: string, choice: ChartChoice): Overlaid {
  const { axis, smoothing } = choice;
  const found = runs.flatMap((compared) => {
    const curve = compared.curves.get(metric);
    return curve ? [{ compared, curve, origin: unixSeconds(compared.run.started_at) ?? 0 }] : [];
  });
  const having = found.map(({ compared }) => compared);
  const [only] = found;
  if (only && found.length === 1) {
    return { having, columns: chartColumns([only.curve], undefined, axis, only.origin, smoothing) };
  }
  const { x, columns } = join(found.map(({ curve, origin }) => ({ x: xValues(curve, axis, origin), y: curve.value })));
  const lines = columns.map((column) => smooth(column, x, smoothing));
  return { having, columns: { x, raw: columns, lines, low: null, high: null } };
}

export interface Overlaid {
  readonly having: readonly ComparedRun[];
  readonly columns: ChartColumns;
}

/** Samples by prompt, for each run; prompts that every run has come first. */
export function alignedByPrompt(samples: readonly (readonly Sample[])[]): [string, Sample[][]][] {
  const prompts = [...new Set(samples.flatMap((ofRun) => ofRun.map((sample) => sample.prompt)))];
  const rows = prompts.map((prompt): [string, Sample[][]] => [
    prompt,
    samples.map((ofRun) => ofRun.filter((sample) => sample.prompt === prompt).sort((a, b) => a.member - b.member)),
  ]);
  const lacking = ([, cells]: [string, Sample[][]]) => cells.filter((cell) => cell.length === 0).length;
  return rows.sort((a, b) => lacking(a) - lacking(b));
}
