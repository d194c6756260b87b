import assert from "node:assert/strict";
import { test } from "node:test";
import type { Occupancy, OccupancyArea } from "../../api/schema.ts";
import { areaColour, areaName, inWords, tableRows } from "./areas.ts";

const area = (fields: Partial<OccupancyArea>): OccupancyArea => ({
  key: "p1",
  name: "Shapes",
  category: "project",
  lanes: [1, 1],
  lane_hours: 2,
  ...fields,
});

const AREAS = [
  area({}),
  area({ key: "p2", name: "Clips", lane_hours: 5 }),
  area({ key: "", name: "other projects", lane_hours: 0 }),
  area({ key: "idle", name: "idle", category: "idle", lane_hours: 3 }),
  area({ key: "awaiting_test", name: "awaiting test", category: "out_of_service", lane_hours: 0 }),
];

const occupancy = (fields: Partial<Occupancy> = {}): Occupancy => ({
  kind: "gpu",
  since: "2026-01-01T00:00:00Z",
  until: "2026-01-01T02:00:00Z",
  bucket_seconds: 3600,
  at: [0, 3600],
  areas: AREAS,
  ...fields,
});

test("projects have colours of their own, and states those of the map", () => {
  assert.deepEqual(
    AREAS.map((_, index) => areaColour(AREAS, index)),
    ["--series-1", "--series-2", "--ink-3", "--state-available", "--state-awaiting_test"],
  );
  assert.deepEqual(AREAS.map(areaName).slice(2), ["other projects", "Idle", "Awaiting test"]);
});

test("the chart is told in words, the largest share first", () => {
  assert.match(inWords(occupancy()), /^Lanes over time: Clips 50 %, Idle 30 %, Shapes 20 %/);
  assert.equal(inWords(occupancy({ areas: [] })), "Lanes over time: ");
});

test("the table puts neighbouring buckets together, so that it stays readable", () => {
  const lanes = Array.from({ length: 48 }, (_, index) => index);
  const rows = tableRows(occupancy({ at: lanes.map((index) => index * 60), areas: [area({ lanes })] }));
  assert.equal(rows.length, 24);
  assert.deepEqual(rows.slice(0, 2), [
    { at: 0, lanes: [0.5] },
    { at: 120, lanes: [2.5] },
  ]);
  assert.equal(tableRows(occupancy()).length, 2);
});
