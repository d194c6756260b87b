/** The queue in words: forecasts as bands, lanes, who is ahead. */

import type { ForecastTimes, QueuedRun, RunsAhead } from "../../api/schema.ts";
import { clock, number, roughly, unixSeconds } from "../../base/format.ts";

/** Times that differ by less are said as one. */
const SAME_SECONDS = 60;

/** `{gpu: 3, cpu: 1}` → "3 GPU + 1 CPU lanes". */
export function lanesText(lanes: Readonly<Record<string, number>>): string {
  const kinds = Object.entries(lanes).filter(([, count]) => count > 0);
  if (kinds.length === 0) return "no lanes";
  const total = kinds.reduce((sum, [, count]) => sum + count, 0);
  return `${kinds.map(([kind, count]) => `${count} ${kind.toUpperCase()}`).join(" + ")} lane${total === 1 ? "" : "s"}`;
}

/** A forecast from now: "likely in 12 min, in 8 min to 20 min"; null where it is unknown. */
export function bandText(times: ForecastTimes | null, now: number): { likely: string; range: string } | null {
  const [earliest, likely, latest] = times
    ? [unixSeconds(times.earliest), unixSeconds(times.likely), unixSeconds(times.latest)]
    : [null, null, null];
  if (earliest === null || likely === null || latest === null) return null;
  const from = (at: number) => (at - now < 5 ? "now" : roughly(at - now));
  const said = likely - now < 5 ? "any moment" : `in ${roughly(likely - now)}`;
  const range =
    latest - earliest < SAME_SECONDS ? `at ${clock(likely, false)}` : `${from(earliest)} to ${from(latest)}`;
  return { likely: said, range };
}

export const BASIS_WORDS: Readonly<Record<QueuedRun["duration_basis"], string>> = {
  measured: "by its own batches",
  history: "by runs like it",
  plan: "by its plan",
  stop_limit: "it was told to stop",
  unknown: "nothing to tell by yet",
};

/** "2 runs ahead (1 of another project) want 6 GPU lanes"; empty for the first. */
export function aheadText(ahead: RunsAhead): string {
  if (ahead.num_runs === 0) return "";
  const runs = `${ahead.num_runs} run${ahead.num_runs === 1 ? "" : "s"} ahead`;
  return `${runs}${othersText(ahead)} want${ahead.num_runs === 1 ? "s" : ""} ${lanesText(ahead.lanes)}`;
}

function othersText({ num_runs_of_others: runs, num_other_projects: projects }: RunsAhead): string {
  if (runs === 0) return "";
  return ` (${runs} of ${projects === 1 ? "another project" : `${projects} other projects`})`;
}

/** "started ahead of 2 runs: it delays none of them"; empty where nobody was ahead. */
export function overtakingText(count: number): string {
  if (count === 0) return "";
  return count === 1
    ? "started ahead of 1 run: it does not delay it"
    : `started ahead of ${count} runs: it delays none of them`;
}

/** How much longer a batch takes: "a batch takes about 1.6 times as long". */
export function slowDownText(factor: number | null): string {
  if (factor === null) return "how much slower is not known";
  if (factor > 1.02) return `a batch takes about ${number(factor, 2)} times as long`;
  return factor < 0.98 ? `a batch takes about ${number(1 / factor, 2)} times less long` : "as fast";
}
