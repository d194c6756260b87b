import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunSize } from "../../api/schema.ts";
import { attributes, markup, textOf } from "../../testing/markup.ts";
import { ResizeForm } from "./resize_dialog.tsx";

const SIZE: RunSize = {
  lanes: [
    { lane: "rollout-0", role: "rollout", node: "a", device: "H100" },
    { lane: "trainer-0", role: "trainer", node: "a", device: "H100" },
    { lane: "reward-0", role: "reward", node: "a", device: "cpu" },
  ],
  free: [
    { role: "rollout", device: "H100", number: 2 },
    { role: "reward", device: "cpu", number: 5 },
  ],
  trainer_change_seconds: 31,
  is_trainer_change_measured: true,
  resizes: [],
};

const form = (size: RunSize = SIZE, isColocated = false) => (
  <ResizeForm size={size} isColocated={isColocated} onResize={() => {}} onClose={() => {}} />
);

test("every lane has a choice, every kind of free lane a number within what is free", () => {
  const text = textOf(form());
  assert.match(text, /rollout-0 a H100 rollout \(as now\) trainer reward released/);
  assert.match(text, /as rollout, on H100 \(2 free\)/);
  assert.match(text, /The run then has 1 rollout, 1 trainer, 1 reward\./);
  assert.deepEqual(attributes(form(), "max"), ["2", "5"]);
});

test("nothing can be sent before something is chosen", () => {
  assert.match(markup(form()), /<button type="submit" class="button primary" disabled[^>]*>Resize/);
});

test("a colocated run is offered no rollout lanes", () => {
  assert.doesNotMatch(textOf(form(SIZE, true)), /as rollout/);
});

test("a resize under way is named, with how far it is", () => {
  const open = {
    id: "r",
    cause: "user" as const,
    requested_by: "bob",
    state: "accepted" as const,
    reason: "",
    lanes: [{ lane: "rollout-1", role: "rollout" as const, step: "starting" as const, detail: "" }],
    trainer_seconds: null,
    created_at: "2026-01-01T00:00:00Z",
    ended_at: null,
  };
  const text = textOf(form({ ...SIZE, resizes: [open] }));
  assert.match(text, /A resize is under way: rollout-1 starting as rollout\./);
});
