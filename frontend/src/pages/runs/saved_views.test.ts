import assert from "node:assert/strict";
import { test } from "node:test";
import type { SavedView } from "../../api/schema.ts";
import { installBrowser } from "../../testing/browser.ts";
import { chooseColumns, chosenColumns } from "./columns.tsx";
import { viewFromSearch } from "./run_view.ts";
import { grouped, openView, saveView } from "./saved_views.ts";

const saved = (name: string, fields: Partial<SavedView> = {}): SavedView => ({
  id: name,
  name,
  query: {},
  columns: [],
  is_dense: false,
  project: null,
  project_name: "",
  saved_by: "alice",
  ...fields,
});

test("a view is saved with filters, order, groups, columns and density, and opens as it was", async () => {
  const requests = installBrowser(() => ({ json: saved("best") }));
  chooseColumns(["state", "reward"]);
  const view = viewFromSearch("?state=failed,running&order=reward&group=model");
  await saveView(view, "best", "p1");
  const body = requests.at(-1)?.body as SavedView;
  assert.deepEqual(body.query, { state: "running,failed", order: "reward", group: "model" });
  assert.deepEqual([body.columns, body.is_dense, body.project], [["state", "reward"], false, "p1"]);
  chooseColumns(["user"]);
  assert.deepEqual(openView(saved("best", { query: body.query, columns: body.columns })), view);
  assert.deepEqual(
    chosenColumns().map(({ id }) => id),
    ["state", "reward"],
  );
});

test("one's own views stand before those of projects", () => {
  const shared = (name: string, project: string) => saved(name, { project, project_name: project });
  const groups = grouped([shared("a", "Zoo"), saved("b"), shared("c", "Ant"), shared("d", "Zoo")]);
  assert.deepEqual(
    groups.map(({ title, views }) => [title, views.map(({ name }) => name).join()]),
    [
      ["Yours", "b"],
      ["Shared in Ant", "c"],
      ["Shared in Zoo", "a,d"],
    ],
  );
});
