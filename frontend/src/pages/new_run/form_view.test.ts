import assert from "node:assert/strict";
import { test } from "node:test";
import { FormView } from "./form_view.ts";

function storage(): Pick<Storage, "getItem" | "setItem"> {
  const kept = new Map<string, string>();
  return { getItem: (key) => kept.get(key) ?? null, setItem: (key, value) => void kept.set(key, value) };
}

test("a setting out of sight is revealed: its step, with all settings, and the focus", () => {
  const view = new FormView(storage());
  view.reveal("elastic.max_trainer");
  assert.deepEqual(
    [view.step.value, view.showsAll("budget"), view.wanted.value],
    ["budget", true, "elastic.max_trainer"],
  );
  view.reveal("num_batches");
  view.reveal("seed");
  assert.deepEqual(
    [view.step.value, view.showsAll("advanced")],
    ["advanced", false],
    "an essential setting opens nothing",
  );
});

test("which steps show all settings is remembered", () => {
  const kept = storage();
  const view = new FormView(kept);
  view.showAll("model", true);
  view.showAll("budget", true);
  view.showAll("model", false);
  const later = new FormView(kept);
  assert.deepEqual([later.showsAll("model"), later.showsAll("budget")], [false, true]);
});
