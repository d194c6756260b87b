import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { installBrowser } from "../../testing/browser.ts";
import { markup, textOf } from "../../testing/markup.ts";
import { Filters } from "./filters.tsx";
import { isFiltered, orderedBy, type RunView, searchOfView, viewFromSearch } from "./run_view.ts";

const USUAL = viewFromSearch("");
const filters = (view: Partial<RunView>) => <Filters view={{ ...USUAL, ...view }} onChange={() => undefined} />;

beforeEach(() => {
  installBrowser();
});

test("the view comes from the address, and goes back into it", () => {
  const view = viewFromSearch("?state=failed,running&tag=a%20b&mine=true&ended_days=7&order=reward&group=tag");
  assert.deepEqual(view.states, ["running", "failed"]);
  assert.deepEqual([view.tag, view.mine, view.endedDays, view.order, view.group], ["a b", true, 7, "reward", "tag"]);
  assert.deepEqual(viewFromSearch(searchOfView(view)), view);
});

test("an address without a view has the usual one, and what there is not is left out", () => {
  assert.deepEqual(viewFromSearch("?state=dreaming&order=luck&group=mood&ended_days=-1&archived=no"), USUAL);
  assert.equal(searchOfView(USUAL), "");
  assert.equal(isFiltered(USUAL), false);
});

test("a heading orders by its column, from the best down, and pressed again the other way round", () => {
  const byReward = orderedBy(USUAL, "reward");
  assert.deepEqual([byReward.order, byReward.descending], ["reward", true]);
  assert.equal(orderedBy(byReward, "reward").descending, false);
  assert.equal(orderedBy(USUAL, "name").descending, false);
});

test("several states can be chosen, and are named while they are few", () => {
  assert.match(textOf(filters({})), /^Any state queued .* stopped .* Mine Archived/);
  assert.match(textOf(filters({ states: ["running", "failed"] })), /^running, failed/);
  assert.match(textOf(filters({ states: ["running", "failed", "paused"] })), /^3 states/);
});

test("a tag and a number of days in force can be removed", () => {
  assert.match(markup(filters({ tag: "ablation" })), /aria-label="Remove the filter on tag ablation"/);
  assert.match(markup(filters({ endedDays: 7 })), /aria-label="Remove the filter on the last 7 days"/);
  assert.doesNotMatch(markup(filters({})), /Remove the filter/);
});
