/** A test of a GPU, step by step: those that have ended with what they found, the one under way, and those to come. */

import { type GpuTest, type GpuTestStep, type GpuTestStepName, gpuTestStepNameValues } from "../../api/schema.ts";
import { seconds } from "../../base/clock.ts";
import { clock, duration, unixSeconds } from "../../base/format.ts";

export const GPU_TEST_STEPS: readonly GpuTestStepName[] = gpuTestStepNameValues;

const STEP_WORDS: Readonly<Record<GpuTestStepName, string>> = {
  device: "The right GPU",
  matrix_product: "Matrix products",
  memory_sweep: "Memory sweep",
  engine: "A tiny run of the engine",
  all_reduce: "All-reduce with a peer",
};

type Standing = GpuTestStep["outcome"] | "under way" | "to come" | "not reached";

const MARKS: Readonly<Record<Standing, string>> = {
  passed: "✓",
  failed: "✕",
  skipped: "–",
  "under way": "◐",
  "to come": "○",
  "not reached": "○",
};

/** Where each step of a test stands. */
export function standings(test: GpuTest): { readonly name: GpuTestStepName; readonly standing: Standing }[] {
  const ended = new Map(test.steps.map((step) => [step.name, step.outcome]));
  const next = GPU_TEST_STEPS.find((name) => !ended.has(name));
  return GPU_TEST_STEPS.map((name) => {
    const outcome = ended.get(name);
    if (outcome !== undefined) return { name, standing: outcome };
    if (test.ended_at !== null) return { name, standing: "not reached" };
    return { name, standing: test.state === "running" && name === next ? "under way" : "to come" };
  });
}

export function TestSteps({ test }: { readonly test: GpuTest }) {
  const steps = new Map(test.steps.map((step) => [step.name, step]));
  return (
    <div class="gpu-test">
      <p class="small">
        <TestState test={test} />
      </p>
      <ol class="test-steps" aria-label="Steps of the test">
        {standings(test).map(({ name, standing }) => {
          const step = steps.get(name);
          return (
            <li key={name} class={standing.replace(" ", "-")}>
              <span class="mark" aria-hidden="true">
                {MARKS[standing]}
              </span>
              <span>
                {STEP_WORDS[name]}{" "}
                <span class="small muted">
                  {standing}
                  {step && standing !== "skipped" && `, ${duration(step.seconds)}`}
                </span>
                {step?.detail && <span class="small muted block">{step.detail}</span>}
              </span>
            </li>
          );
        })}
      </ol>
    </div>
  );
}

/** "running for 12 s, requested by alice", with why it failed or what it waits for. */
function TestState({ test }: { readonly test: GpuTest }) {
  const [asked, began, ended] = [test.created_at, test.started_at, test.ended_at].map(unixSeconds);
  const times =
    test.state === "queued"
      ? `queued since ${clock(asked ?? null)}`
      : ended === null || ended === undefined
        ? `running for ${duration(seconds.value - (began ?? seconds.value))}`
        : `${test.state} at ${clock(ended)}${began ? ` after ${duration(ended - began)}` : ""}`;
  return (
    <>
      <b class={`test-state ${test.state}`}>{times}</b>, requested by {test.requested_by}
      {test.peer && `, with ${test.peer} as its peer`}
      {test.num_repeats > 0 && `, repeated ${test.num_repeats === 1 ? "once" : `${test.num_repeats} times`}`}
      {test.reason && `: ${test.reason}`}
    </>
  );
}
