import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import type { HomeGroup, HomeRun } from "../../api/schema.ts";
import { seconds } from "../../base/clock.ts";
import { textOf } from "../../testing/markup.ts";
import { listOf, RunGroupPanel, timeOf } from "./run_group_panel.tsx";

const NOW = Date.parse("2026-01-01T00:10:00Z") / 1000;

const homeRun = (fields: Partial<HomeRun> = {}): HomeRun => ({
  id: "run-1",
  name: "first",
  project: "Shapes",
  created_by: "bob",
  is_mine: false,
  state: "running",
  state_changed_at: "2026-01-01T00:09:00Z",
  num_batches: 20,
  num_batches_done: 5,
  started_at: "2026-01-01T00:00:00Z",
  ended_at: null,
  last_heartbeat_at: null,
  note: "",
  ...fields,
});
const group = (fields: Partial<HomeGroup>): HomeGroup => ({
  group: "running",
  number: 0,
  number_mine: 0,
  rows: [],
  ...fields,
});
const said = (shown: HomeGroup, onlyMine = false) => textOf(<RunGroupPanel group={shown} onlyMine={onlyMine} />);

beforeEach(() => {
  seconds.value = NOW;
});

test("a run that works says for how long, one that waits since when, one that ended how long ago", () => {
  assert.equal(timeOf(homeRun(), NOW), "for 10 min 00 s");
  assert.equal(timeOf(homeRun({ state: "queued", started_at: null }), NOW), "for 1 min 00 s");
  assert.equal(timeOf(homeRun({ state: "failed", ended_at: "2026-01-01T00:05:00Z" }), NOW), "5 min ago");
});

test("only my runs are shown and counted when I ask for mine", () => {
  const two = group({ number: 2, number_mine: 1, rows: [homeRun({ name: "mine", is_mine: true }), homeRun()] });
  assert.match(said(two), /^Running 2 mine Shapes · me .* first Shapes · bob/);
  assert.match(said(two, true), /^Running 1 mine/);
  assert.doesNotMatch(said(two, true), /first/);
});

test("more runs than rows lead to the list", () => {
  assert.match(said(group({ number: 9, rows: [homeRun()] })), /^Running 9 All 9 /);
});

test("why a run failed stands with it", () => {
  const failed = homeRun({ state: "failed", note: "the loss was NaN", ended_at: "2026-01-01T00:05:00Z" });
  assert.match(said(group({ group: "failed", number: 1, rows: [failed] })), /the loss was NaN$/);
});

test("with no run at work the panel offers a new one", () => {
  assert.equal(said(group({})), "Running 0 No run works now New run");
  assert.equal(said(group({ group: "failed" })), "Failed in the last 7 days 0 No run failed.");
});

test("the list that a panel leads to holds what it counts", () => {
  assert.equal(listOf("running", false), "/runs?state=starting,running,paused,stopping");
  assert.equal(listOf("failed", true), "/runs?state=failed&ended_days=7&mine=true");
});

test("the team's runs are shown beside mine, however many mine are", () => {
  const mine = Array.from({ length: 8 }, (_, index) => homeRun({ id: `mine-${index}`, name: "mine", is_mine: true }));
  const theirs = Array.from({ length: 4 }, (_, index) => homeRun({ id: `theirs-${index}`, name: "theirs" }));
  const shown = group({ number: 12, number_mine: 8, rows: [...mine, ...theirs] });
  assert.deepEqual([said(shown).match(/\bmine\b/g)?.length, said(shown).match(/\btheirs\b/g)?.length], [4, 4]);
  assert.equal(said(shown, true).match(/\bmine\b/g)?.length, 8);
});
