/** What a GPU that is not simply in service waits for, and who has to do something. */

import { api } from "../../api/endpoints.ts";
import type { PoolGpu, PoolLane } from "../../api/schema.ts";
import { seconds } from "../../base/clock.ts";
import { clock, unixSeconds } from "../../base/format.ts";
import { Progress } from "../../ui/controls.tsx";
import { useResource } from "../../ui/resource.ts";
import { GPU_TEST_STEPS } from "./test_steps.tsx";

/** How often the progress of the run that is waited for is read. */
const RUN_SECONDS = 5;

/** Sentences, in the order in which things will happen; none for a GPU that is in service. */
export function waitsOf(gpu: PoolGpu, lane: PoolLane | undefined): string[] {
  return [holderWait(gpu, lane), testWait(gpu), decisionWait(gpu)].filter((text) => text !== "");
}

function holderWait({ state, state_when_free: next, until }: PoolGpu, lane: PoolLane | undefined): string {
  const isHeld = lane !== undefined && lane.held_since !== null && lane.role !== "test";
  if (!isHeld || (state === "allocated" && next === "available")) return "";
  const holder = lane.run_name === "" ? "A preview" : lane.run_id === null ? "A run of another project" : lane.run_name;
  if (next !== "draining") return `${holder} has its lane until it ends.`;
  if (until === null) return `Draining waits until ${holder} has ended: it was drained without a time.`;
  const by = clock(unixSeconds(until), false);
  return `Draining waits until ${holder} has left the lane: it is moved to free lanes, or at ${by} saved and queued.`;
}

function testWait({ test }: PoolGpu): string {
  if (test === null) return "";
  if (test.state === "running") {
    const step = Math.min(test.steps.length + 1, GPU_TEST_STEPS.length);
    return `Its test is under way, step ${step} of ${GPU_TEST_STEPS.length}.`;
  }
  if (test.reason === "") return "Its test is about to begin.";
  return test.reason.startsWith("waits") ? `Its test ${test.reason}.` : `Its test is queued: ${test.reason}.`;
}

function decisionWait({ state_when_free: state, state: shown, until, test, remedy, place }: PoolGpu): string {
  const [what, isOfNode] = [place.startsWith("node") ? place : "it", place.startsWith("node")];
  switch (state) {
    case "draining":
      return shown === "draining" ? "Drained: nothing runs on it. Ready for maintenance, or to be resumed." : "";
    case "cordoned":
      return `Takes no new work until somebody resumes ${what}.`;
    case "maintenance": {
      const end = until === null ? `until somebody resumes ${what}` : `until ${clock(unixSeconds(until), false)}`;
      return `Maintenance lasts ${end}; then ${isOfNode ? "its GPUs are" : "it is"} tested.`;
    }
    case "faulty": {
      const repair = remedy === "none" ? "Once it is repaired" : `Recommended: ${remedy}. Then`;
      return test === null ? `${repair} it returns by a test: Resume or Re-test asks for one.` : "";
    }
    case "lost":
      return "It comes back by itself once its node, or its driver, answers again.";
    default:
      return "";
  }
}

export function Waits({ gpu, lane }: { readonly gpu: PoolGpu; readonly lane: PoolLane | undefined }) {
  const texts = waitsOf(gpu, lane);
  if (texts.length === 0) return null;
  const isLeaving = gpu.state_when_free !== "available" && lane !== undefined && lane.run_id !== null;
  return (
    <section aria-label="What it waits for" class="pool-waits">
      <h3>What it waits for</h3>
      <ol class="small" aria-live="polite">
        {texts.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ol>
      {isLeaving && <RunProgress id={lane.run_id} />}
    </section>
  );
}

function RunProgress({ id }: { readonly id: string }) {
  const run = useResource(() => api.getRun(id), [id, Math.floor(seconds.value / RUN_SECONDS)]).value;
  if (run === undefined) return null;
  return (
    <div class="meter-row wide">
      <Progress done={run.num_batches_done} total={run.num_batches} />
      <span class="small num">
        <a href={`/runs/${id}`}>{run.name}</a>: {run.num_batches_done} of {run.num_batches} batches, {run.state}
      </span>
    </div>
  );
}
