/** The plan of a run whose placement the planner chose: the choice, the alternatives, and the measured throughput. */

import { api } from "../../api/endpoints.ts";
import type { GradedPlanStep, Plan, PlanChoice, RevisedPlan } from "../../api/schema.ts";
import { number, percent } from "../../base/format.ts";
import { ModeTable } from "../../plan/mode_table.tsx";
import { basisInWords, choiceInWords, modesInOrder } from "../../plan/plan_words.ts";
import { SplitChart } from "../../plan/split_chart.tsx";
import { useLiveResource } from "../../ui/resource.ts";
import { Empty, Failed } from "../../ui/states.tsx";
import type { RunProps } from "./context.ts";
import { PlanHistory, signedPercent } from "./plan_history.tsx";

export function PlanPanel({ store, run }: RunProps) {
  const isAuto = run.spec.pipeline.placement === "auto";
  const adopted = store.planVersion.value;
  // Each batch that ends is a part of the plan's grade.
  const answer = useLiveResource(
    async () => (isAuto ? await api.plan(run.id) : null),
    [run.id, run.attempt, isAuto, adopted],
    store.metrics.version,
  );
  if (!isAuto) return null;
  const plan = answer.value?.plan;
  return (
    <section class="card" aria-label="Plan">
      <div class="card-head">
        <h2>Plan</h2>
        {plan && <span class="small muted">{basisInWords(plan)}</span>}
      </div>
      {answer.error !== null && <Failed message={answer.error} onRetry={answer.reload} />}
      {plan ? (
        <>
          <Chosen plan={plan} step={answer.value?.steps.at(-1)} />
          <PlanHistory steps={answer.value?.steps ?? []} />
        </>
      ) : (
        plan === null && (
          <Empty title="Not planned yet">The planner chooses placement, split and switches once lanes are free.</Empty>
        )
      )}
    </section>
  );
}

function Chosen({ plan, step }: { plan: RevisedPlan; step: GradedPlanStep | undefined }) {
  const best = plan.by_mode[plan.mode];
  if (!best) return null;
  return (
    <div class="plan">
      <div class="stack-s">
        <p>
          Chosen: <b>{choiceInWords(best)}</b>. <span class="muted">{plan.scoring.reason}</span>
        </p>
        <Figures plan={plan} best={best} step={step} />
        {Object.keys(plan.by_mode).length > 1 && <ModeTable plan={plan} />}
      </div>
      <SplitChart plan={plan} />
    </div>
  );
}

interface FiguresProps {
  readonly plan: RevisedPlan;
  readonly best: PlanChoice;
  readonly step: GradedPlanStep | undefined;
}

function Figures({ plan, best, step }: FiguresProps) {
  const other = compared(plan);
  // All batches hold as many samples, so the rate is off by as much as the seconds, the other way round.
  const off = step?.measured_seconds ? best.batch_seconds / step.measured_seconds - 1 : null;
  const measured = off === null ? null : best.samples_per_second * (1 + off);
  return (
    <div class="headline">
      <Figure
        label="Predicted"
        value={number(best.samples_per_second)}
        unit="samples/s"
        note={`${percent(best.bound_share)} of the bound`}
      />
      {other && (
        <Figure
          label={`${other.label} would be`}
          value={number(other.choice.samples_per_second)}
          unit="samples/s"
          note={`the choice is ${number(best.samples_per_second / other.choice.samples_per_second)} × as fast`}
        />
      )}
      <Figure
        label="Measured so far"
        value={measured === null ? "…" : number(measured)}
        unit={measured === null ? "" : "samples/s"}
        note={off === null ? "from the second batch on" : `${signedPercent(off)} against the plan`}
      />
    </div>
  );
}

/** What the choice is compared with: colocated placement, or the best of the others where that was chosen. */
function compared(plan: Plan): { label: string; choice: PlanChoice } | null {
  const colocated = plan.by_mode.colocated;
  if (plan.mode !== "colocated" && colocated) return { label: "Colocated", choice: colocated };
  const others = modesInOrder(plan)
    .filter(([mode]) => mode !== plan.mode)
    .map(([, choice]) => choice);
  const next = others.reduce<PlanChoice | null>(
    (best, one) => (one.samples_per_second > (best?.samples_per_second ?? 0) ? one : best),
    null,
  );
  return next && { label: "The next best", choice: next };
}

function Figure({ label, value, unit, note }: { label: string; value: string; unit: string; note: string }) {
  return (
    <div class="figure">
      <span class="tiny faint">{label}</span>
      <b class="num">
        {value} <span class="unit">{unit}</span>
      </b>
      <span class="tiny muted num">{note}</span>
    </div>
  );
}
