import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import type { VNode } from "preact";
import type { QueuedRun } from "../../api/schema.ts";
import { installBrowser } from "../../testing/browser.ts";
import { queuedRun } from "../../testing/builders.ts";
import { attributes, markup, textOf } from "../../testing/markup.ts";
import { Board } from "./board.tsx";

beforeEach(() => void installBrowser(() => ({ json: {} })));

const board = (rows: readonly QueuedRun[], mayReorder = false) => (
  <Board rows={rows} count={rows.length} mayReorder={mayReorder} onChanged={() => {}} onWhole={() => {}} />
);

test("a row says what is wanted, what blocks, who is ahead, and that the start is unknown", () => {
  const text = textOf(
    board([
      queuedRun("demo", {
        position: 1,
        blockers: [{ kind: "lanes_held", lane_kind: "cpu", missing: 2, text: "2 CPU lanes more must come free" }],
        ahead: { num_runs: 1, num_runs_of_others: 1, num_other_projects: 1, lanes: { cpu: 3 } },
      }),
    ]),
  );
  assert.match(text, /demo/);
  assert.match(text, /3 CPU lanes/);
  assert.match(text, /unknown/);
  assert.match(text, /2 CPU lanes more must come free/);
  assert.match(text, /1 run ahead \(1 of another project\) wants 3 CPU lanes/);
});

test("what an admin moved is said to everybody, and only admins can move", () => {
  const moved = { words: "moved to the front", by: "alice", reason: "deadline", at: "2026-01-01T00:00:00Z" };
  const rows = [queuedRun("demo", { moved }), queuedRun("other", { position: 1 })];
  assert.match(textOf(board(rows)), /moved to the front by alice: deadline/);
  const names = (element: VNode) => attributes(element, "aria-label").filter((label) => label.startsWith("Move"));
  assert.deepEqual(names(board(rows)), []);
  assert.ok(names(board(rows, true)).includes("Move to the front: other"));
  assert.match(textOf(board(rows, true)), /Undo the move/);
});

test("runs of other projects offer nothing to do", () => {
  const hidden = queuedRun("a run of another project", { run_id: null, project_name: "", may_change: false });
  const html = markup(board([hidden], true));
  assert.doesNotMatch(html, /<button/);
  assert.doesNotMatch(html, /href=/);
});

test("an empty queue says so", () => assert.match(textOf(board([])), /No run waits/));
