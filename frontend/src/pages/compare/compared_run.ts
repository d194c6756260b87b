/** Runs that are compared: what is read of each, and the curves and samples of several side by side. */

import { messageOf } from "../../api/client.ts";
import { api } from "../../api/endpoints.ts";
import type { Run, Sample } from "../../api/schema.ts";
import { unixSeconds } from "../../base/format.ts";
import { seriesColour } from "../../base/series.ts";
import { smooth } from "../../base/smoothing.ts";
import { type ChartColumns, join } from "../../charts/axis.ts";
import { METRIC_PANELS } from "../../charts/panels.ts";
import { type Curve, curveOf } from "../../live/growing_curve.ts";

export interface ComparedRun {
  readonly run: Run;
  readonly curves: ReadonlyMap<string, Curve>;
  /** Names of all metrics that it reported, of which `curves` holds those that were asked for. */
  readonly keys: readonly string[];
  /** Custom property that holds its colour. */
  readonly colour: string;
}

/** A run that could not be read, and why. */
export interface UnreadRun {
  readonly id: string;
  readonly message: string;
}

/** As many as there are colours that stay apart; more lines are a tangle. */
export const MAX_COMPARED = 8;
/** Points of a curve: about one for each two pixels of a panel. */
const MAX_POINTS = 300;

/** Reads the runs, and these curves of each: one request a run for the run, and one for all its curves. */
export async function readRuns(ids: readonly string[], keys: readonly string[]): Promise<(ComparedRun | UnreadRun)[]> {
  return Promise.all(
    ids.slice(0, MAX_COMPARED).map(async (id, index) => {
      try {
        const [run, metrics] = await Promise.all([api.getRun(id), api.metrics(id, { keys, max_points: MAX_POINTS })]);
        const curves = new Map(Object.entries(metrics.series).map(([key, series]) => [key, curveOf(series)]));
        return { run, curves, keys: metrics.keys, colour: seriesColour(index) };
      } catch (error) {
        return { id, message: messageOf(error) };
      }
    }),
  );
}

/** The metrics that any of the runs has: those of curated panels in the panels' order, then others by name. */
export function metricsOf(runs: readonly ComparedRun[]): string[] {
  const known = new Set(runs.flatMap((compared) => compared.keys));
  const curated = METRIC_PANELS.flatMap((panel) => panel.keys).filter((key) => known.has(key));
  return [...new Set([...curated, ...[...known].sort()])];
}

/** Trajectories that a batch trains on. */
export function samplesPerBatch({ spec }: Pick<Run, "spec">): number {
  return spec.batch.num_prompts_per_batch * spec.batch.group_size;
}

export type CompareAxis = "batch" | "samples" | "wall";

function xOf({ run }: ComparedRun, curve: Curve, axis: CompareAxis): number[] {
  if (axis === "batch") return curve.batch;
  if (axis === "samples") return curve.batch.map((batch) => batch * samplesPerBatch(run));
  const origin = unixSeconds(run.started_at) ?? 0;
  return curve.at.map((at) => at - origin);
}

/** A line of a chart: one run, or the mean of several. */
export interface OverlaidLine {
  readonly name: string;
  readonly colour: string;
  readonly members: readonly ComparedRun[];
}

export interface Overlaid {
  readonly having: readonly OverlaidLine[];
  readonly columns: ChartColumns;
}

/** The lines that have the metric, on one x; hours count from each run's own start. A mean stands only where all its
 * members have a point: it would jump where one of them ends. */
export function overlaid(
  lines: readonly OverlaidLine[],
  metric: string,
  { axis, smoothing }: { readonly axis: CompareAxis; readonly smoothing: number },
): Overlaid {
  const found = lines.flatMap((line) => {
    const curves = line.members.flatMap((member) => {
      const curve = member.curves.get(metric);
      return curve ? [{ x: xOf(member, curve, axis), y: curve.value }] : [];
    });
    return curves.length === line.members.length && curves.length > 0 ? [{ line, curve: meanCurve(curves) }] : [];
  });
  const { x, columns } = join(found.map(({ curve }) => curve));
  const smoothed = columns.map((column) => smooth(column, x, smoothing));
  return {
    having: found.map(({ line }) => line),
    columns: { x, raw: columns, lines: smoothed, low: null, high: null },
  };
}

interface Points {
  readonly x: readonly number[];
  readonly y: readonly number[];
}

function meanCurve(curves: readonly Points[]): Points {
  const [only, another] = curves;
  if (only && another === undefined) return only;
  const { x, columns } = join(curves);
  const complete = x.flatMap((at, row) => {
    const values = columns.flatMap((column) => column[row] ?? []);
    return values.length === curves.length ? [[at, values.reduce((sum, one) => sum + one, 0) / values.length]] : [];
  });
  return { x: complete.map(([at]) => at as number), y: complete.map(([, mean]) => mean as number) };
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
