import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import type { Run } from "../../api/schema.ts";
import { seconds } from "../../base/clock.ts";
import { run } from "../../testing/builders.ts";
import { attributes, markup, textOf } from "../../testing/markup.ts";
import { RunsTable } from "./runs_table.tsx";

const CREATED = Date.parse("2026-01-01T00:00:00Z") / 1000;

beforeEach(() => {
  seconds.value = CREATED + 130;
});

const table = (fields: Partial<Run> = {}, chosen: readonly string[] = []) => (
  <RunsTable runs={[run(fields)]} chosen={new Set(chosen)} onToggle={() => undefined} onTag={() => undefined} />
);

test("a live run says how long it has run until now", () => {
  assert.match(textOf(table()), /running 0 \/ 20 batches – – 2 min ago 2 min 00 s$/);
});

test("an ended run says how long it took, whatever the time is", () => {
  assert.match(textOf(table({ state: "completed", ended_at: "2026-01-01T00:00:40Z" })), /2 min ago 30 s$/);
});

test("a run that has not started has neither", () => {
  assert.match(textOf(table({ state: "queued", started_at: null })), /– – – –$/);
});

test("progress is the share of batches done, for eyes and readers alike", () => {
  const element = table({ num_batches_done: 5 });
  assert.ok(attributes(element, "style").some((style) => /width:\s*25%/.test(style)));
  assert.deepEqual(attributes(element, "aria-valuenow"), ["5"]);
});

test("held-out reward is shown before and after", () => {
  assert.match(textOf(table({ headline: { reward_before: 0.25, reward_after: 0.5 } })), /0\.25 → 0\.5/);
  assert.match(textOf(table({ headline: { reward_before: 0, reward_after: 0.5 } })), /batches – 0 → 0\.5/);
});

test("tags, project and author stand with the name; an author may be gone", () => {
  assert.match(textOf(table({ tags: ["ablation"] })), /first ablation Shapes · alice/);
  assert.match(textOf(table({ created_by: null })), /Shapes · a deleted account/);
});

test("chosen runs are ticked", () => {
  assert.match(markup(table({}, ["run-1"])), /type="checkbox"[^>]*checked/);
  assert.doesNotMatch(markup(table({}, ["other"])), /checked/);
});
