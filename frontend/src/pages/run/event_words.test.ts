import assert from "node:assert/strict";
import { test } from "node:test";
import type { EventItem } from "../../live/item_list.ts";
import { hackingItem, phaseItem, publishItem, resizeReport, resumedItem, run } from "../../testing/builders.ts";
import { describe } from "./event_words.ts";

const at = { stream_seq: 1, at: 1, attempt: 1 };

/** One event of each type, with what the log says of it. */
const EVENTS: readonly (readonly [EventItem, string])[] = [
  [phaseItem(1), "Train"],
  [{ ...at, type: "phase", body: { phase: "load_model", detail: "2 of 3" } }, "Load model: 2 of 3"],
  [{ ...at, type: "lanes", body: { lanes: [], algebra: run().algebra, resize: null } }, "0 lanes placed"],
  [
    { ...at, type: "lanes", body: { lanes: [], algebra: run().algebra, resize: resizeReport() } },
    "Resized: rollout-1 joined as rollout",
  ],
  [
    {
      ...at,
      type: "lanes",
      body: {
        lanes: [],
        algebra: run().algebra,
        resize: resizeReport({
          lanes: [{ lane: "trainer-0", role: null, step: "released", detail: "", num_dropped: 0 }],
          trainer_seconds: { checkpoint: 2, start: 20, restore: 1 },
        }),
      },
    },
    "Resized: trainer-0 released; training stood still for 23 s (checkpoint 2.0 s, start 20 s, restore 1.0 s)",
  ],
  [
    { ...at, type: "state", body: { state: "failed", reason: "out of memory", details: "" } },
    "The driver reports: failed: out of memory",
  ],
  [{ ...at, type: "transition", body: { old: "", new: "queued", reason: "", actor: "alice" } }, "created → queued"],
  [
    { ...at, type: "transition", body: { old: "running", new: "paused", reason: "lunch", actor: "alice" } },
    "running → paused: lunch",
  ],
  [resumedItem(1, 3), "Resumed after batch 3, policy v3"],
  [
    { ...at, type: "samples", body: { purpose: "train", batch: 2, policy_version: 1, samples: [] } },
    "0 samples of batch 2 (train, v1)",
  ],
  [
    {
      ...at,
      type: "evaluation",
      body: { batch: 4, policy_version: 4, num_samples: 8, values: { reward: 0.5, clip_score: 0.25 } },
    },
    "Held-out evaluation after batch 4: reward 0.5, CLIP score 0.25",
  ],
  [publishItem(1, 7), "Published v7: 1 tensors, 1 B, 100 ms"],
  [
    { ...at, type: "checkpoint", body: { batch: 5, policy_version: 5, optimizer_step: 20, uri: "u", num_bytes: 2048 } },
    "Checkpoint after batch 5, 2.0 KiB",
  ],
  [
    hackingItem(),
    "Reward hacking suspected: over 40 batches the optimised reward changed by +0.12 ± 0.01, the monitored shape judge by −0.2 ± 0.02",
  ],
  [
    hackingItem({ suspected: false }),
    "Reward hacking no longer suspected: over 40 batches the optimised reward changed by +0.12 ± 0.01, the monitored shape judge by −0.2 ± 0.02",
  ],
  [
    { ...at, type: "gate", body: { gate: "replay", batch: 1, passed: false, values: { mean_error: 0.5 } } },
    "Replay gate FAILED: mean error 0.5",
  ],
  [
    { ...at, type: "command_done", body: { command_id: "c", accepted: false, detail: "it has ended" } },
    "Command refused: it has ended",
  ],
];

for (const [item, text] of EVENTS) {
  test(`an event of type ${item.type} is described as “${text}”`, () => assert.equal(describe(item).text, text));
}

const adapter = (files: number, final: boolean): EventItem => ({
  ...at,
  type: "adapter",
  body: {
    batch: 3,
    policy_version: 3,
    artifact: "a",
    sha256: "",
    num_bytes: 1024,
    final,
    files: Array.from({ length: files }, (_, index) => ({ path: String(index), sha256: "", num_bytes: 1 })),
  },
});

test("one file is a LoRA, several are weights, and the last of them is final", () => {
  assert.deepEqual(
    [adapter(1, false), adapter(2, false), adapter(1, true)].map((item) => describe(item).text),
    ["LoRA of batch 3 saved, 1.0 KiB", "Weights of batch 3 saved, 1.0 KiB", "Final LoRA of batch 3 saved, 1.0 KiB"],
  );
});

test("good and bad news stand out", () => {
  const tone = (type: string) => EVENTS.filter(([item]) => item.type === type).map(([item]) => describe(item).tone);
  assert.deepEqual(tone("state"), ["bad"]);
  assert.deepEqual(tone("transition"), ["plain", "plain"]);
  assert.deepEqual(tone("gate"), ["bad"]);
  assert.deepEqual(tone("reward_hacking"), ["bad", "good"]);
  assert.deepEqual(tone("command_done"), ["bad"]);
  assert.deepEqual(tone("evaluation"), ["good"]);
  assert.equal(describe(adapter(1, true)).tone, "good");
  const completed: EventItem = {
    ...at,
    type: "transition",
    body: { old: "running", new: "completed", reason: "", actor: "driver" },
  };
  assert.equal(describe(completed).tone, "good");
});
