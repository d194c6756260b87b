/** The states that the run went through, with times, and what it does now. */

import type { Run } from "../../api/schema.ts";
import { seconds } from "../../base/clock.ts";
import { clock, duration } from "../../base/format.ts";
import { hasEnded } from "../../base/run_state.ts";
import type { RunProps } from "./context.ts";
import { PHASES } from "./status_line.tsx";
import { type Step, statesAhead, stepsOf } from "./steps.ts";

/** A run that was lost and resumed often has more; the earlier ones are counted. */
const MAX_SHOWN = 6;

export function Stepper({ store, run }: RunProps) {
  const all = stepsOf(run, store.transitions.value);
  const shown = all.slice(-MAX_SHOWN);
  return (
    <ol class="stepper" aria-label="States of the run">
      {all.length > shown.length && (
        <li class="step past">
          <span class="step-name">… {all.length - shown.length} earlier</span>
        </li>
      )}
      {shown.map((step, index) => (
        <StepItem key={index} step={step} run={run} now={index === shown.length - 1} />
      ))}
      {statesAhead(run).map((state) => (
        <li key={state} class="step ahead">
          <span class="step-name">{state}</span>
        </li>
      ))}
    </ol>
  );
}

function StepItem({ step, run, now }: { step: Step; run: Run; now: boolean }) {
  const terminal = hasEnded(step);
  const until = step.until ?? (now && !terminal ? seconds.value : null);
  return (
    <li
      class={`step ${now ? `now ${step.state}` : "past"}`}
      aria-current={now ? "step" : undefined}
      title={step.reason}
    >
      <span class="step-name">
        {step.state}
        {step.attempt !== null && step.attempt > 1 && ` (attempt ${step.attempt})`}
      </span>
      <span class="tiny faint num">
        {clock(step.at)}
        {until !== null && step.at !== null && !terminal && ` · ${duration(Math.max(0, until - step.at))}`}
      </span>
      {now && run.waiting && (
        <span class="tiny muted">
          {run.waiting} <a href={`/queue?pool=${run.spec.lanes.pool}`}>See the queue</a>
        </span>
      )}
      {now && !terminal && !run.waiting && run.phase && <span class="tiny muted">{PHASES[run.phase]}</span>}
      {step.isSetback && <span class="tiny muted truncate">{step.reason}</span>}
      {now && terminal && step.reason && <span class="tiny muted truncate">{step.reason}</span>}
    </li>
  );
}
