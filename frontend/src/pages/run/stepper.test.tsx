import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import type { Run, RunState, Transition } from "../../api/schema.ts";
import { seconds } from "../../base/clock.ts";
import { RunStore } from "../../live/run_store.ts";
import { run } from "../../testing/builders.ts";
import { attributes, markup, textOf } from "../../testing/markup.ts";
import { Stepper } from "./stepper.tsx";

const START = Date.parse("2026-01-01T00:00:00Z") / 1000;

beforeEach(() => {
  seconds.value = START + 60;
});

/** The stepper of a run that moved once every ten seconds. */
function stepper(states: readonly RunState[], fields: Partial<Run> = {}, reason = "") {
  const store = new RunStore("run-1");
  store.transitions.value = states.map(
    (state, index): Transition => ({
      old: states[index - 1] ?? "",
      new: state,
      reason,
      actor: "alice",
      attempt: 1,
      request_id: "",
      at: new Date((START + 10 * index) * 1000).toISOString(),
      stream_seq: index + 1,
    }),
  );
  return <Stepper store={store} run={run({ state: states.at(-1) ?? "queued", ...fields })} />;
}

test("past states say how long they took, the present one how long it has lasted", () => {
  const text = textOf(stepper(["queued", "starting", "running"]));
  assert.match(text, /queued \S+ \S+ \S+ · 10 s starting .* · 10 s running .* · 40 s training completed$/);
});

test("what the run does now is said in words, or what it waits for", () => {
  assert.match(textOf(stepper(["queued", "starting"], { phase: "load_model" })), /loading the model/);
  const waiting = textOf(stepper(["queued"], { phase: "train", waiting: "2 runs are before it" }));
  assert.match(waiting, /2 runs are before it/);
  assert.doesNotMatch(waiting, /training/);
});

test("an ended run has nothing ahead, no running time, and says why it ended", () => {
  const element = stepper(["queued", "starting", "running", "failed"], {}, "out of memory");
  assert.match(textOf(element), /failed \S+ \S+ \S+ out of memory$/);
  assert.doesNotMatch(markup(element), /step ahead/);
});

test("exactly the newest step is current", () => {
  assert.deepEqual(attributes(stepper(["queued", "starting", "running"]), "aria-current"), ["step"]);
  assert.match(markup(stepper(["queued", "starting", "paused"])), /class="step now paused"/);
});

test("a run that was lost and resumed says its attempt and the reason", () => {
  const text = textOf(stepper(["queued", "starting", "running", "starting"], {}, "the driver was lost"));
  assert.match(text, /starting \(attempt 2\) .* the driver was lost/);
});

test("of many steps the last six are shown, the others counted", () => {
  const states: RunState[] = ["queued", "starting", "running", "paused", "running", "paused", "running", "paused"];
  const text = textOf(stepper(states));
  assert.match(text, /^… 2 earlier running/);
});
