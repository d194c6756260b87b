/** The run's result in numbers: held-out reward and each watched judge, before and after. */

import type { Run } from "../../api/types.ts";
import { number, percent, words } from "../../base/format.ts";
import type { JsonObject } from "../../base/paths.ts";
import { getPath, isObject } from "../../base/paths.ts";
import type { RunStore } from "../../live/run_store.ts";
import { rewardKey } from "../new_run/reward_names.ts";
import type { RunProps } from "./context.ts";

const rewardSpecs = (spec: JsonObject) => (Array.isArray(spec["rewards"]) ? spec["rewards"] : []).filter(isObject);

/** The keys of all rewards, in the spec's order. */
export function rewardsOf(spec: JsonObject): string[] {
  return rewardSpecs(spec).map(rewardKey);
}

/** Rewards measured but never trained on: they judge whether the reward's rise is honest. */
export function watchedRewards(spec: JsonObject): string[] {
  return rewardSpecs(spec)
    .filter((reward) => reward["watched"] === true)
    .map(rewardKey);
}

/** The watched rewards that are verdicts, right or wrong: their mean is a share. */
export function judgesOf(spec: JsonObject): string[] {
  return watchedRewards(spec).filter((name) => name.includes("judge"));
}

interface Figure {
  readonly label: string;
  readonly help: string;
  readonly before: number | undefined;
  readonly after: number | undefined;
  readonly asShare: boolean;
  /** Samples of the newest batch without this score. */
  readonly numMissing: number;
}

function figures(store: RunStore, run: Run): Figure[] {
  const metrics = store.metrics;
  const reward: Figure = {
    label: "Held-out reward",
    help: "Weighted reward on seeds the run never trains on.",
    asShare: false,
    numMissing: 0,
    before: metrics.first("eval/reward"),
    after: metrics.last("eval/reward"),
  };
  const judges = judgesOf(run.spec);
  const watched = watchedRewards(run.spec).map(
    (name): Figure => ({
      label: judges.includes(name) ? "Judged right" : words(name),
      help: `${name}: measured on held-out seeds, never trained on.`,
      before: metrics.first(`eval/part/${name}`),
      after: metrics.last(`eval/part/${name}`),
      asShare: judges.includes(name),
      numMissing: missingNow(store, name),
    }),
  );
  return [reward, ...watched];
}

/** A curve of missing scores has points only where some are missing. */
function missingNow(store: RunStore, name: string): number {
  const curve = store.metrics.curves.get(`reward/missing/${name}`);
  const newest = store.metrics.curves.get("reward/mean")?.batch.at(-1);
  return curve !== undefined && curve.batch.at(-1) === newest ? (curve.value.at(-1) ?? 0) : 0;
}

export function Headline({ store, run }: RunProps) {
  void store.metrics.version.value;
  const speed = store.metrics.last("speed/images_per_second");
  const numEvaluations = store.metrics.curves.get("eval/reward")?.value.length ?? 0;
  const idle = store.metrics.last("lanes/idle_share");
  return (
    <section class="card headline" aria-label="Before and after">
      {store.metrics.last("reward/hacking_suspected") === 1 && (
        <p class="notice warn small hacking" role="status">
          <span>
            <b>Reward hacking?</b> Over the last ten batches the trained reward rose while a watched one fell, both
            beyond their noise. <a href="#samples">Look at the samples</a>; <a href="#logs">the log</a> says which fell.
          </span>
        </p>
      )}
      {figures(store, run).map((figure) => (
        <BeforeAfterFigure key={figure.label} {...figure} numEvaluations={numEvaluations} />
      ))}
      {Number(getPath(run.spec, "ema.decay") ?? 0) > 0 && (
        <span
          class="tag averaged"
          title="Evaluations, samples asked for and what is downloaded use the moving average; training goes on from the weights themselves."
        >
          judged by the moving average of the weights
        </span>
      )}
      {speed !== undefined && (
        <div class="figure small-figure">
          <span class="tiny faint">Throughput</span>
          <b class="num">
            {number(speed)} <span class="unit">samples/s</span>
          </b>
          <span class="tiny faint num">{idle === undefined ? "" : `lanes idle ${percent(idle)}`}</span>
        </div>
      )}
    </section>
  );
}

function BeforeAfterFigure({
  label,
  help,
  before,
  after,
  asShare,
  numMissing,
  numEvaluations,
}: Figure & { numEvaluations: number }) {
  const show = (value: number | undefined) => (asShare ? percent(value) : number(value));
  const onlyOne = before !== undefined && numEvaluations < 2;
  const change = before !== undefined && after !== undefined ? after - before : undefined;
  return (
    <div class="figure" title={help}>
      <span class="tiny faint">{label}</span>
      {before === undefined ? (
        <b class="muted">not measured yet</b>
      ) : (
        <b class="num">
          <span class="was">{show(before)}</span>
          <span class="arrow" aria-label="to">
            →
          </span>
          {onlyOne ? "…" : show(after)}
        </b>
      )}
      {change !== undefined && change !== 0 && (
        <span class={`tiny num ${change > 0 ? "up" : "down"}`}>
          {change > 0 ? "+" : "−"}
          {asShare ? `${Math.abs(change * 100).toFixed(0)} points` : number(Math.abs(change))}
        </span>
      )}
      {numMissing > 0 && (
        <span
          class="tiny down num"
          title="Means are over those that have one; the reward lanes' log says why others do not."
        >
          {number(numMissing)} without a score in the last batch
        </span>
      )}
    </div>
  );
}
