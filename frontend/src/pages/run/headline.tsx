/** The run's result at a glance: held-out reward and each watched reward, before and after, and how fast it trains. */

import { number, percent } from "../../base/format.ts";
import type { RunProps } from "./context.ts";
import { HackingNotice } from "./hacking_notice.tsx";
import { type Figure, figuresOf } from "./headline_figures.ts";

export function Headline({ store, run }: RunProps) {
  void store.metrics.version.value;
  const speed = store.metrics.last("speed/images_per_second");
  const numEvaluations = store.metrics.curve("eval/reward")?.value.length ?? 0;
  const idle = store.metrics.last("lanes/idle_share");
  return (
    <section class="card headline" aria-label="Before and after">
      <HackingNotice events={store.events.items.value} />
      {figuresOf(store.metrics, run.spec).map((figure) => (
        <BeforeAfterFigure key={figure.label} {...figure} numEvaluations={numEvaluations} />
      ))}
      {run.spec.ema.decay > 0 && (
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
          <span class="arrow" role="img" aria-label="to">
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
