/** Beside the form: what the planner predicts for the spec in it, and why it would choose so. */

import { useEffect } from "preact/hooks";
import type { PlanChoice, PlanPreview } from "../../api/schema.ts";
import { bytes, clock, duration, number, percent, roughly } from "../../base/format.ts";
import { getPath } from "../../base/paths.ts";
import { ModeTable } from "../../plan/mode_table.tsx";
import { basisInWords, choiceInWords, modeLabel, modesInOrder } from "../../plan/plan_words.ts";
import { SplitChart } from "../../plan/split_chart.tsx";
import { Stat, Stats } from "../../ui/stat.tsx";
import type { FormModel } from "./form_model.ts";
import { estimateOf, isChosen, type Made, type Planner, withChoice } from "./planner.ts";

export function PlannerPanel({ model, planner }: { model: FormModel; planner: Planner }) {
  const { made, asking, error } = planner;
  const spec = model.spec.value;
  const isReady = model.ok.value;
  useEffect(() => {
    if (isReady) planner.want(spec);
  }, [isReady, spec]);
  return (
    <section class="card stack-s planner" aria-labelledby="planner-title">
      <div class="row-between">
        <h2 id="planner-title">Plan</h2>
        <span class="tiny faint" aria-live="polite">
          {asking.value ? "planning…" : isReady ? "" : made.value ? "of the last valid spec" : "waits for a valid spec"}
        </span>
      </div>
      {error.value !== null && (
        <p class="notice bad small" role="alert">
          {error.value}
        </p>
      )}
      {made.value ? <Prediction model={model} made={made.value} /> : error.value === null && <Pending />}
    </section>
  );
}

/** The figures before there is a plan, at their later height. */
function Pending() {
  return <div class="planner-pending" aria-hidden="true" />;
}

function Prediction({ model, made }: { model: FormModel; made: Made }) {
  const { plan } = made;
  const best = plan.by_mode[plan.mode];
  if (!best) return null;
  return (
    <>
      <Figures made={made} best={best} />
      <p class="small">
        <b>{choiceInWords(best)}</b>
        <br />
        <span class="muted">{reasonInWords(plan, best)}</span>
      </p>
      {plan.scoring.reason !== "" && <p class="small muted">{plan.scoring.reason}</p>}
      {!plan.fits_pool && (
        <p class="notice warn small">The pool has fewer lanes than that: such a run would wait for more.</p>
      )}
      <Use model={model} best={best} />
      <Memory plan={plan} best={best} />
      <SplitChart plan={plan} />
      <details>
        <summary class="small">Every mode on these lanes</summary>
        <div class="plan">
          <ModeTable plan={plan} />
        </div>
      </details>
      <p class="tiny muted">It is {basisInWords(plan)}.</p>
    </>
  );
}

function Figures({ made, best }: { made: Made; best: PlanChoice }) {
  const { samplesPerSecond, batchSeconds, runSeconds, cost } = estimateOf(made, best);
  const numUnpriced = made.plan.num_unpriced_lanes;
  const finish = Date.now() / 1000 + runSeconds;
  return (
    <Stats label="Predicted for the run">
      <Stat
        label="Throughput"
        definition="Predicted trajectories of a batch by the predicted seconds of a batch."
        value={number(samplesPerSecond)}
        unit="samples/s"
        note={`${percent(best.bound_share)} of the bound`}
      />
      <Stat label="Batch" definition="Predicted seconds from one batch to the next." value={duration(batchSeconds)} />
      <Stat
        label="Finish"
        definition="If the run started now: all batches at the predicted seconds each, without start-up, evaluations and checkpoints."
        value={runSeconds < 86400 ? clock(finish, false) : roughly(runSeconds)}
        note={`after ${roughly(runSeconds)}`}
      />
      <Stat
        label="Cost"
        definition="The predicted hours of the run at the mean price of the pool's lanes of the same device, in the currency of the prices."
        value={cost === null ? null : number(cost)}
        note={cost === null ? "no price set" : numUnpriced > 0 ? `without ${numUnpriced} lanes of no price` : ""}
      />
    </Stats>
  );
}

/** The chosen mode against the one that comes next. */
function reasonInWords(plan: PlanPreview, best: PlanChoice): string {
  const others = modesInOrder(plan).filter(([mode]) => mode !== plan.mode);
  const [next] = others.sort(([, a], [, b]) => b.samples_per_second - a.samples_per_second);
  if (!next) return "The only mode that these lanes allow.";
  const gain = best.samples_per_second / next[1].samples_per_second - 1;
  const by = gain < 0.005 ? "as fast as" : `${percent(gain)} more samples/s than`;
  return `Predicted ${by} the next best: ${modeLabel(next[0]).replace(/^\+/, "disaggregated with").toLowerCase()}.`;
}

/** That the run will work so, or the button that writes the choice into the form. */
function Use({ model, best }: { model: FormModel; best: PlanChoice }) {
  const spec = model.spec.value;
  if (getPath(spec, "pipeline.placement") === "auto")
    return <p class="tiny muted">Placement is auto: the run plans again on the lanes it is given.</p>;
  if (isChosen(spec, best)) return <p class="tiny muted">The spec says the same.</p>;
  return (
    <div class="row">
      <button type="button" class="button small" onClick={() => model.replace(withChoice(spec, best))}>
        Use this
      </button>
      <button type="button" class="button small quiet" onClick={() => model.set("pipeline.placement", "auto")}>
        Leave it to the planner
      </button>
    </div>
  );
}

const DUTIES: Readonly<Record<string, string>> = {
  rollout: "Rollout lane",
  trainer: "Trainer lane",
  both: "Every lane",
};

/** The fullest lane of each role against the smallest card among the devices. */
function Memory({ plan, best }: { plan: PlanPreview; best: PlanChoice }) {
  const cards = Object.values(plan.card_bytes);
  const card = cards.length > 0 ? Math.min(...cards) : null;
  return (
    <dl class="lane-memory" aria-label="Memory of a lane">
      {Object.entries(best.memory_bytes).map(([duty, used]) => (
        <div key={duty}>
          <dt>{DUTIES[duty] ?? duty}</dt>
          <dd>
            {card !== null && (
              <span class="memory-bar">
                <i class={used > card ? "over" : ""} style={{ width: `${Math.min(1, used / card) * 100}%` }} />
              </span>
            )}
            <span class="num">
              {bytes(used)}
              {card !== null && <span class="faint"> of {bytes(card)}</span>}
            </span>
          </dd>
        </div>
      ))}
      {plan.scoring.card_bytes > 0 && (
        <div>
          <dt>of that, rewards on the shared GPU</dt>
          <dd class="num">{bytes(plan.scoring.card_bytes)}</dd>
        </div>
      )}
    </dl>
  );
}
