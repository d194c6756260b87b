import assert from "node:assert/strict";
import { test } from "node:test";
import type { TableFilter } from "../../api/endpoints.ts";
import type { ListedRun, RunTable } from "../../api/schema.ts";
import { run } from "../../testing/builders.ts";
import { TableLines } from "./table_lines.ts";
import { STRETCH, TableRows } from "./table_rows.ts";

const settled = () => new Promise((resolve) => setTimeout(resolve));

/** A server of so many runs, `run-0` and on; `asked` holds the offsets of its questions. */
function served(number: number) {
  const asked: number[] = [];
  const rows = new TableRows(async (filter: TableFilter, offset: number, limit: number): Promise<RunTable> => {
    asked.push(offset);
    if (filter.search === "broken") throw new Error("the server did not answer");
    const results: ListedRun[] = Array.from({ length: Math.max(0, Math.min(limit, number - offset)) }, (_, index) =>
      run({ id: `run-${offset + index}`, name: filter.search ?? "any" }),
    );
    return { number, groups: [], results };
  });
  return { rows, asked };
}

test("only the stretches in view are read, each once", async () => {
  const { rows, asked } = served(10_000);
  rows.show({});
  await settled();
  assert.equal(rows.number, 10_000);
  rows.see(0, 20);
  rows.see(8 * STRETCH - 5, 8 * STRETCH + 5);
  rows.see(8 * STRETCH - 4, 8 * STRETCH + 6);
  await settled();
  assert.deepEqual(asked, [0, 7 * STRETCH, 8 * STRETCH]);
  assert.equal(rows.at(8 * STRETCH)?.id, `run-${8 * STRETCH}`);
  assert.equal(rows.at(5 * STRETCH), undefined);
});

test("another filter leaves the rows until its own are here, and none of the earlier after that", async () => {
  const { rows } = served(300);
  rows.show({});
  rows.see(0, 150);
  await settled();
  rows.show({ search: "new" });
  assert.equal(rows.at(0)?.name, "any");
  await settled();
  assert.deepEqual([rows.at(0)?.name, rows.at(150)], ["new", undefined]);
});

test("an answer that a later question has overtaken is dropped", async () => {
  const { rows } = served(3);
  rows.show({ search: "first" });
  rows.show({ search: "second" });
  await settled();
  assert.equal(rows.at(0)?.name, "second");
});

test("a stretch that could not be read says so, and is asked for again", async () => {
  const { rows, asked } = served(3);
  rows.show({ search: "broken" });
  await settled();
  assert.equal(rows.error, "the server did not answer");
  rows.readAgain();
  assert.deepEqual(asked, [0, 0]);
});

test("a change is put into its row; one of another run is told", async () => {
  const { rows } = served(3);
  rows.show({});
  await settled();
  const changed = { ...run({ id: "run-1" }), num_batches_done: 7 };
  assert.equal(rows.apply(new Map([["run-1", changed]])), false);
  assert.equal(rows.at(1)?.num_batches_done, 7);
  assert.equal(rows.apply(new Map([["run-9", run({ id: "run-9" })]])), true);
});

const SUMS = { num_live: 0, num_failed: 0, num_batches_done: 0, best_reward: null, mean_reward: null };
const GROUPS = [
  { value: "night", number: 2, ...SUMS },
  { value: "red", number: 3, ...SUMS },
];

test("each group has a heading above its rows, and a folded one only the heading", () => {
  const open = new TableLines(5, GROUPS, new Set());
  assert.equal(open.number, 7);
  assert.deepEqual(open.at(3), { kind: "heading", group: GROUPS[1], isFolded: false });
  assert.deepEqual(open.at(4), { kind: "row", offset: 2 });
  const folded = new TableLines(5, GROUPS, new Set(["night"]));
  assert.equal(folded.number, 5);
  assert.deepEqual(folded.at(2), { kind: "row", offset: 2 });
});

test("keys pass over headings, and stay at the last row", () => {
  const lines = new TableLines(5, GROUPS, new Set());
  assert.equal(lines.nextRow(-1, 1), 1);
  assert.equal(lines.nextRow(2, 1), 4);
  assert.equal(lines.nextRow(1, -1), 1);
  assert.equal(lines.nextRow(6, 1), 6);
});
