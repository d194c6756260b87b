import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunSize } from "../../api/schema.ts";
import { runSize } from "../../testing/builders.ts";
import { attributes, markup, textOf } from "../../testing/markup.ts";
import { ResizeForm } from "./resize_dialog.tsx";

const form = (size: RunSize = runSize()) => <ResizeForm size={size} onResize={() => {}} onClose={() => {}} />;

test("every lane has a choice of role, every kind of free lane a number within what is free", () => {
  const text = textOf(form());
  assert.match(text, /rollout-0 H100 on a rollout \(as now\) trainer reward released/);
  assert.match(text, /as rollout, on H100 \(2 free\)/);
  assert.deepEqual(attributes(form(), "max"), ["2", "2", "5"]);
});

test("roles that the run has no lanes of are not offered", () => {
  const lanes = runSize().lanes.filter(({ role }) => role !== "rollout");
  const free = runSize().free.filter(({ role }) => role !== "rollout");
  assert.doesNotMatch(textOf(form(runSize({ roles: ["trainer", "reward"], lanes, free }))), /rollout/);
});

test("nothing can be sent before something is chosen", () => {
  assert.match(markup(form()), /<button type="submit" class="button primary" disabled[^>]*>Resize/);
});

test("a resize under way is named, with how far it is", () => {
  const open = {
    id: "r",
    cause: "user" as const,
    requested_by: "bob",
    state: "accepted" as const,
    reason: "",
    lanes: [{ lane: "rollout-1", role: "rollout" as const, step: "starting" as const, detail: "", num_dropped: 0 }],
    trainer_seconds: null,
    created_at: "2026-01-01T00:00:00Z",
    ended_at: null,
  };
  const text = textOf(form(runSize({ resizes: [open] })));
  assert.match(text, /A resize is under way: rollout-1 starting as rollout\./);
});
