/** What the run does now in one line: phase, progress, when it should end, and what holds it up most. */

import type { ComponentChildren } from "preact";
import type { Bubbles, Phase, Run } from "../../api/schema.ts";
import { seconds } from "../../base/clock.ts";
import { clock, duration, percent, roughly, unixSeconds } from "../../base/format.ts";
import type { RunStore } from "../../live/run_store.ts";
import { causeLabel, parseClass } from "../../timeline/classes.ts";
import { largestLoss } from "../../timeline/shares.ts";
import { Term } from "../../ui/term.tsx";
import type { RunProps } from "./context.ts";
import { expectedEnd, paceOf } from "./pace.ts";
import { laneStarts, startText } from "./start_up.ts";

export const PHASES: Readonly<Record<Phase, string>> = {
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

/** Phases in which lanes come up. */
export const STARTING: ReadonlySet<string> = new Set<Phase>(["bootstrap", "place_lanes", "load_model"]);

/** A smaller share of lane time than this is no bottleneck worth a sentence. */
const LEAST_SHARE = 0.01;

export function StatusLine({ store, run, bubbles }: RunProps & { bubbles: Bubbles | undefined }) {
  return (
    <section class="status-line" aria-label="Status">
      <p>
        <b class={`status-state ${run.state}`}>{run.state}</b>
        <span>{activity(store, run)}</span>
      </p>
      <p>
        <Ending store={store} run={run} />
      </p>
      <p class="status-bottleneck">
        <Bottleneck bubbles={bubbles} />
      </p>
    </section>
  );
}

function activity(store: RunStore, run: Run): ComponentChildren {
  if (store.hasEnded.value) {
    const reason = store.transitions.value.at(-1)?.reason;
    return reason || `after ${run.num_batches_done} of ${run.num_batches} batches`;
  }
  if (run.waiting) {
    return (
      <>
        {run.waiting} <a href={`/queue?pool=${run.spec.lanes.pool}`}>See the queue</a>
      </>
    );
  }
  const since = unixSeconds(run.state_changed_at);
  const forSeconds = since === null ? "" : ` for ${duration(Math.max(0, Math.floor(seconds.value - since)))}`;
  if (run.state === "running" && run.phase === "train") {
    return `training batch ${Math.min(run.num_batches_done + 1, run.num_batches)} of ${run.num_batches}`;
  }
  const doing = `${run.phase ? PHASES[run.phase] : "waiting for its driver"}${run.state === "starting" ? forSeconds : ""}`;
  const lanes = STARTING.has(run.phase)
    ? startText(laneStarts(store.events.items.value, run.attempt), seconds.value)
    : "";
  return lanes ? `${doing}: ${lanes}` : doing;
}

function Ending({ store, run }: RunProps) {
  void store.metrics.version.value;
  const started = unixSeconds(run.started_at);
  const ended = unixSeconds(run.ended_at);
  if (store.hasEnded.value) {
    return started !== null && ended !== null ? <span class="muted">took {duration(ended - started)}</span> : null;
  }
  const pace = paceOf(store.metrics);
  const numLeft = run.num_batches - run.num_batches_done;
  if (run.state !== "running" || pace === null || numLeft <= 0) return null;
  const end = expectedEnd(pace, numLeft);
  const left = Math.max(0, end.at - seconds.value);
  return (
    <>
      <Term word="expected end">Expected end</Term> <b class="num">{clock(end.at, false)}</b>
      <span class="muted num">
        {end.rangeSeconds !== null && end.rangeSeconds >= 1 && ` ± ${duration(end.rangeSeconds)}`}, in {roughly(left)}
      </span>
    </>
  );
}

function Bottleneck({ bubbles }: { bubbles: Bubbles | undefined }) {
  const loss = bubbles === undefined ? null : largestLoss(bubbles);
  if (loss === null || loss.share < LEAST_SHARE) return null;
  return (
    <>
      <Term word="bubble">Bottleneck</Term>: {loss.role} lanes idle for{" "}
      <b>{causeLabel(parseClass(loss.name).cause ?? "")}</b>,{" "}
      <a href="#timeline" class="num" title="Since the run began. The Pipeline tab has all classes of lane time.">
        {percent(loss.share)} of their time
      </a>
    </>
  );
}
