import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import type { Run } from "../../api/schema.ts";
import { seconds } from "../../base/clock.ts";
import { installBrowser } from "../../testing/browser.ts";
import { run } from "../../testing/builders.ts";
import { attributes, markup, textOf } from "../../testing/markup.ts";
import { chosenColumns, toggleColumn } from "./columns.tsx";
import { Row } from "./run_rows.tsx";

const CREATED = Date.parse("2026-01-01T00:00:00Z") / 1000;

beforeEach(() => {
  installBrowser();
  seconds.value = CREATED + 130;
});

const row = (fields: Partial<Run> = {}, isChosen = false) => (
  <table>
    <tbody>
      <Row
        run={run(fields)}
        index={0}
        columns={chosenColumns()}
        rewards={[]}
        isChosen={isChosen}
        isCurrent={false}
        onToggle={() => undefined}
        onTag={() => undefined}
      />
    </tbody>
  </table>
);

test("a live run says how long it has run until now", () => {
  assert.match(textOf(row()), /running 0 \/ 20 batches – – alice 2 min ago 2 min 00 s$/);
});

test("an ended run says how long it took, whatever the time is", () => {
  assert.match(textOf(row({ state: "completed", ended_at: "2026-01-01T00:00:40Z" })), /2 min ago 30 s$/);
});

test("a run that has not started has no duration", () => {
  assert.match(textOf(row({ state: "queued", started_at: null })), / –$/);
});

test("progress is the share of batches done, for eyes and readers alike", () => {
  const element = row({ num_batches_done: 5 });
  assert.ok(attributes(element, "style").some((style) => /width:\s*25%/.test(style)));
  assert.deepEqual(attributes(element, "aria-valuenow"), ["5"]);
});

test("held-out reward is shown before and after", () => {
  assert.match(textOf(row({ headline: { reward_before: 0.25, reward_after: 0.5 } })), /0\.25 → 0\.5/);
  assert.match(textOf(row({ headline: { reward_before: 0, reward_after: 0.5 } })), /batches – 0 → 0\.5/);
});

test("tags stand with the name; an author may be gone", () => {
  assert.match(textOf(row({ tags: ["ablation"] })), /^first ablation /);
  assert.match(textOf(row({ created_by: null })), /a deleted account/);
});

test("a chosen run is ticked", () => {
  assert.match(markup(row({}, true)), /type="checkbox"[^>]*checked/);
  assert.doesNotMatch(markup(row()), /checked/);
});

test("columns are chosen, and the choice is remembered", () => {
  toggleColumn("project");
  assert.match(textOf(row()), /alice Shapes 2 min ago/);
  assert.match(localStorage.getItem("tandem.runColumns") ?? "", /project/);
  toggleColumn("project");
  assert.doesNotMatch(textOf(row()), /Shapes/);
});
