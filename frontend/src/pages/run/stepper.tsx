/** The run's life so far, with times, and what it is doing this moment. */

import { type Run, type RunState, TERMINAL_STATES, type Transition } from "../../api/types.ts";
import { seconds } from "../../base/clock.ts";
import { clock, duration, unixSeconds } from "../../base/format.ts";
import type { RunProps } from "./context.ts";

const PHASES: Record<string, string> = {
  bootstrap: "fetching its spec",
  place_lanes: "placing its lanes",
  load_model: "loading the model",
  restore: "restoring the checkpoint",
  evaluate: "evaluating on held-out seeds",
  train: "training",
  checkpoint: "writing a checkpoint",
  export: "exporting the trained weights",
  finish: "finishing",
};

const USUAL_WAY: readonly RunState[] = ["queued", "starting", "running", "completed"];
const MAX_SHOWN = 6;

interface Step {
  readonly state: RunState;
  readonly at: number | null;
  readonly until: number | null;
  readonly reason: string;
  /** Each start is another attempt: which one this is, for starts. */
  readonly attempt: number | null;
  /** Back to a start from the middle of the work: the driver was lost. */
  readonly isSetback: boolean;
}

function steps(run: Run, transitions: readonly Transition[]): Step[] {
  const moves =
    transitions.length > 0 ? transitions : [{ old: null, new: "queued" as const, reason: "", at: run.created_at }];
  const times = moves.map((move) => unixSeconds(move.at));
  let numStarts = 0;
  return moves.map((move, index) => ({
    state: move.new,
    at: times[index] ?? null,
    until: times[index + 1] ?? null,
    reason: move.reason,
    attempt: move.new === "starting" ? ++numStarts : null,
    isSetback: move.new === "starting" && move.old !== "queued",
  }));
}

export function Stepper({ store, run }: RunProps) {
  const all = steps(run, store.transitions.value);
  const shown = all.slice(-MAX_SHOWN);
  const ended = TERMINAL_STATES.includes(run.state);
  const reached = USUAL_WAY.indexOf(run.state);
  const ahead = ended ? [] : reached >= 0 ? USUAL_WAY.slice(reached + 1) : USUAL_WAY.slice(-1);
  return (
    <ol class="stepper" aria-label="Life of the run">
      {all.length > shown.length && (
        <li class="step past">
          <span class="step-name">… {all.length - shown.length} earlier</span>
        </li>
      )}
      {shown.map((step, index) => (
        <StepItem key={index} step={step} run={run} now={index === shown.length - 1} />
      ))}
      {ahead.map((state) => (
        <li key={state} class="step ahead">
          <span class="step-name">{state}</span>
        </li>
      ))}
    </ol>
  );
}

function StepItem({ step, run, now }: { step: Step; run: Run; now: boolean }) {
  const terminal = TERMINAL_STATES.includes(step.state);
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
      {now && run.waiting && <span class="tiny muted">{run.waiting}</span>}
      {now && !terminal && !run.waiting && run.phase && (
        <span class="tiny muted">{PHASES[run.phase] ?? run.phase}</span>
      )}
      {step.isSetback && <span class="tiny muted truncate">{step.reason}</span>}
      {now && terminal && step.reason && <span class="tiny muted truncate">{step.reason}</span>}
    </li>
  );
}
