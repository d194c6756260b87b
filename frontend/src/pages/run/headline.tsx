/** Six figures: what has been learnt by the held-out evaluations, and how fast and how fully the lanes work. */

import type { ComponentChildren } from "preact";
import type { Bubbles } from "../../api/schema.ts";
import { duration, number, percent } from "../../base/format.ts";
import { GLOSSARY } from "../../base/glossary.ts";
import { busyShare } from "../../timeline/shares.ts";
import { Stat, Stats } from "../../ui/stat.tsx";
import type { RunProps } from "./context.ts";
import { type Figure, figuresOf } from "./headline_figures.ts";
import { BATCHES_AVERAGED, paceOf } from "./pace.ts";

/** Of the rewards that are monitored; the Metrics tab has all. */
const MAX_MONITORED = 2;
const NUM_FIGURES = 6;

export function Headline({ store, run, bubbles }: RunProps & { bubbles: Bubbles | undefined }) {
  void store.metrics.version.value;
  const figures = figuresOf(store.metrics, run).slice(0, 1 + MAX_MONITORED);
  const pace = paceOf(store.metrics);
  const window = pace === null ? "" : `last ${pace.numBatches} ${pace.numBatches === 1 ? "batch" : "batches"}`;
  const noSpread = meanOfLast(store.metrics.curve("reward/zero_std_share")?.value);
  const stats = [
    ...figures.map((figure) => <Evaluated key={figure.label} {...figure} ema={run.spec.ema.decay > 0} />),
    <Stat
      key="throughput"
      label="Throughput"
      definition="Trajectories trained on in the last 8 batches, divided by the wall time of these batches, pauses included."
      value={pace && number(pace.samplesPerSecond)}
      unit="samples/s"
      note={window}
    />,
    <Stat
      key="busy"
      label="Busy share"
      definition={GLOSSARY["busy share"]}
      value={bubbles && bubbles.total_seconds > 0 ? percent(busyShare(bubbles.by_class)) : null}
      note="all lanes since the run began"
      href="#timeline"
    />,
    <Stat
      key="batch"
      label="Batch time"
      definition="Mean wall time from the end of one batch's training to the end of the next, over the last 8 batches; ± its standard error."
      value={pace && duration(pace.batchSeconds)}
      note={pace?.errorSeconds ? `± ${duration(pace.errorSeconds)}, ${window}` : window}
    />,
    <Stat
      key="spread"
      label="Groups without spread"
      definition="Share of the groups of the last 8 batches whose members all have the same reward: they teach nothing."
      value={noSpread === null ? null : percent(noSpread)}
      note={window}
    />,
  ];
  return <Stats label="Key figures">{stats.slice(0, NUM_FIGURES)}</Stats>;
}

function Evaluated({ label, definition, before, after, change, tone, numMissing, ema }: Figure & { ema: boolean }) {
  const averaged = ema ? " Evaluated with the moving average of the weights." : "";
  const notes: ComponentChildren[] = [
    change === null ? "" : <span class={tone === "good" ? "up" : tone === "bad" ? "down" : ""}>{change}</span>,
    before === null ? "not evaluated yet" : after === null ? "before training" : "",
    numMissing > 0 ? `${number(numMissing)} without a score in the newest batch` : "",
  ];
  return (
    <Stat
      label={label}
      definition={definition + averaged}
      value={
        before && (
          <>
            <span class={after === null ? "" : "was"}>{before}</span>
            {after !== null && (
              <>
                <span class="arrow" role="img" aria-label="to">
                  →
                </span>
                {after}
              </>
            )}
          </>
        )
      }
      note={notes.filter(Boolean).map((note, index) => [index > 0 && " · ", note])}
    />
  );
}

function meanOfLast(values: readonly number[] | undefined): number | null {
  const newest = values?.slice(-BATCHES_AVERAGED) ?? [];
  return newest.length === 0 ? null : newest.reduce((sum, value) => sum + value, 0) / newest.length;
}
