/** The run's result in numbers: held-out reward and each monitored reward, before training and now. Pure. */

import type { Run } from "../../api/schema.ts";
import { number, percent, words } from "../../base/format.ts";
import { watchedRewards, watchedVerdicts } from "../../base/rewards.ts";
import type { MetricStore } from "../../live/metric_store.ts";

export interface Figure {
  readonly label: string;
  readonly definition: string;
  /** Of the untrained policy; null before it was evaluated. */
  readonly before: string | null;
  /** Of the newest evaluation; null before a second one. */
  readonly after: string | null;
  /** "+0.12", "+3 points"; null where nothing changed. */
  readonly change: string | null;
  /** Good or bad news: told of the optimised reward only, and only beyond two standard errors. */
  readonly tone: "good" | "bad" | undefined;
  /** Samples of the newest batch without this score. */
  readonly numMissing: number;
}

/** Standard errors beyond which a change is not taken for noise. */
const SIGNIFICANT_ERRORS = 2;

export function figuresOf(metrics: MetricStore, run: Pick<Run, "spec" | "headline">): Figure[] {
  const verdicts = watchedVerdicts(run.spec);
  const reward = evaluated(metrics, "eval/reward");
  const error = errorOfChange(metrics.last("reward/std"), run.headline.num_samples);
  const optimised: Figure = {
    label: "Held-out reward",
    definition:
      "Mean of the optimised reward over the samples of an evaluation, whose seeds are never trained on: before " +
      "training → newest. Coloured beyond two standard errors of the change, estimated from the newest batch's spread.",
    ...inWords(reward, false),
    tone: toneOf(reward, error),
    numMissing: 0,
  };
  const monitored = watchedRewards(run.spec).map((name): Figure => {
    const isShare = verdicts.includes(name);
    return {
      label: isShare ? `Accuracy (${words(name)})` : words(name),
      definition: isShare
        ? `Share of an evaluation's samples to which ${name} gives 1; measured, not optimised: before training → newest.`
        : `Mean of ${name} over the samples of an evaluation; measured, not optimised: before training → newest.`,
      ...inWords(evaluated(metrics, `eval/part/${name}`), isShare),
      tone: undefined,
      numMissing: missingNow(metrics, name),
    };
  });
  return [optimised, ...monitored];
}

interface Evaluated {
  readonly before: number | undefined;
  readonly after: number | undefined;
}

function evaluated(metrics: MetricStore, key: "eval/reward" | `eval/part/${string}`): Evaluated {
  const values = metrics.curve(key)?.value ?? [];
  return { before: values[0], after: values.length > 1 ? values.at(-1) : undefined };
}

/** Both evaluations draw the same seeds, which makes the error of their difference smaller than this, never larger. */
function errorOfChange(spread: number | undefined, numSamples: number | undefined): number | null {
  if (spread === undefined || numSamples === undefined || numSamples === 0) return null;
  return spread * Math.sqrt(2 / numSamples);
}

function toneOf({ before, after }: Evaluated, error: number | null): "good" | "bad" | undefined {
  if (before === undefined || after === undefined || error === null) return undefined;
  if (Math.abs(after - before) <= SIGNIFICANT_ERRORS * error) return undefined;
  return after > before ? "good" : "bad";
}

/** The change is that of the values as they are shown, so that a reader who subtracts them finds it. */
function inWords({ before, after }: Evaluated, isShare: boolean): Pick<Figure, "before" | "after" | "change"> {
  const change = (after ?? 0) - (before ?? 0);
  const decimals = Math.abs(change) < 0.05 ? 1 : 0;
  const text = (value: number) => (isShare ? percent(value, decimals) : number(value));
  const shown = { before: before === undefined ? null : text(before), after: after === undefined ? null : text(after) };
  if (before === undefined || after === undefined || shown.before === shown.after) return { ...shown, change: null };
  const sign = change > 0 ? "+" : "−";
  if (!isShare) return { ...shown, change: sign + number(Math.abs(change)) };
  const points = (value: number) => Number((value * 100).toFixed(decimals));
  return { ...shown, change: `${sign}${Math.abs(points(after) - points(before)).toFixed(decimals)} points` };
}

/** A curve of missing scores has points only where some are missing. */
function missingNow(metrics: MetricStore, name: string): number {
  const curve = metrics.curve(`reward/missing/${name}`);
  const newest = metrics.curve("reward/mean")?.batch.at(-1);
  return curve !== undefined && curve.batch.at(-1) === newest ? (curve.value.at(-1) ?? 0) : 0;
}
