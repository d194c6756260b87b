import assert from "node:assert/strict";
import { test } from "node:test";
import { poolShare, queuedRun } from "../../testing/builders.ts";
import { changedSettings, changedShares, entriesOf, queueChanges } from "./policy_form.ts";
import { quotaOf, quotaText } from "./quotas.ts";

const SHARES = [poolShare("Shapes", { max_lanes: 6 }), poolShare("Video", { weight: 2 })];
const POLICY = {
  pool: "default",
  half_life_hours: 24,
  reclaim_seconds: 30,
  idle_warning_minutes: 30,
  idle_release_minutes: null,
};

test("entries that nobody changed change nothing", () => {
  const entries = entriesOf(SHARES, POLICY);
  assert.deepEqual(changedShares(entries, SHARES), []);
  assert.deepEqual(changedSettings(entries, POLICY), {});
});

test("only projects whose share was changed are sent, and an empty limit is none", () => {
  const entries = entriesOf(SHARES, POLICY);
  const typed = {
    ...entries,
    halfLifeHours: "12",
    idleReleaseMinutes: "90",
    shares: { ...entries.shares, "id of Shapes": { guaranteed: "2", limit: "", weight: "1" } },
  };
  assert.deepEqual(changedShares(typed, SHARES), [
    { project: "id of Shapes", guaranteed_lanes: 2, max_lanes: null, weight: 1 },
  ]);
  assert.deepEqual(changedSettings(typed, POLICY), { half_life_hours: 12, idle_release_minutes: 90 });
});

test("a preview names the runs whose place or start would be another", () => {
  const starts = (minute: number) => {
    const at = `2026-01-01T00:${String(minute).padStart(2, "0")}:00Z`;
    return { earliest: at, likely: at, latest: at };
  };
  const now = [
    queuedRun("a", { position: 0, starts: starts(10) }),
    queuedRun("b", { position: 1 }),
    queuedRun("c", { position: 2, starts: starts(20) }),
  ];
  const then = [
    queuedRun("b", { position: 0 }),
    queuedRun("a", { position: 1, starts: starts(15) }),
    queuedRun("c", { position: 2, starts: starts(20) }),
  ];
  assert.deepEqual(queueChanges(now, then), [
    { name: "b", before: "place 2", after: "place 1", seconds: null },
    { name: "a", before: "place 1", after: "place 2", seconds: 300 },
  ]);
  assert.deepEqual(queueChanges(now, [queuedRun("a", { position: null, starts: starts(10) })]), [
    { name: "a", before: "place 1", after: "stopped by its limit", seconds: 0 },
  ]);
});

test("what a project holds beyond its entitlement is borrowed", () => {
  const share = poolShare("Shapes", { held_lanes: 6, entitled_lanes: 3.5, guaranteed_lanes: 2, max_lanes: 12 });
  const quota = quotaOf(share, 8);
  assert.deepEqual(quota, { own: 4, borrowed: 2, whole: 12 });
  assert.equal(quotaText(share, quota), "holds 6 (2 borrowed) · entitled to 3.5, 2 guaranteed · at most 12");
  assert.equal(quotaOf(poolShare("Video"), 0).whole, 1);
});
