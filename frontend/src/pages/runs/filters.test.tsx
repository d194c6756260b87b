import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { installBrowser } from "../../testing/browser.ts";
import { markup, textOf } from "../../testing/markup.ts";
import { Filters, filterFromAddress, rememberFilter } from "./filters.tsx";

let address: string;

beforeEach(() => {
  installBrowser();
  address = "";
  const history = { replaceState: (_state: unknown, _title: string, to: string) => (address = to) };
  Object.defineProperty(globalThis, "history", { value: history, configurable: true });
  Object.assign(location, { pathname: "/" });
});

function openedAt(search: string) {
  Object.assign(location, { search });
  return filterFromAddress();
}

test("the filter comes from the address, and goes back into it", () => {
  const filter = openedAt("?project=p1&state=running&tag=a%20b&search=kl&archived=true");
  assert.deepEqual(filter, { project: "p1", state: "running", tag: "a b", search: "kl", archived: true });
  rememberFilter(filter);
  assert.deepEqual(openedAt(address.slice(1)), filter);
});

test("an address without a filter has none, and a state that there is not is none", () => {
  const none = { project: undefined, state: undefined, tag: undefined, search: undefined, archived: undefined };
  assert.deepEqual(openedAt(""), none);
  assert.deepEqual(openedAt("?state=dreaming&archived=no"), none);
  rememberFilter(none);
  assert.equal(address, "/");
});

const filters = (filter: Parameters<typeof Filters>[0]["filter"], numProjects: number) => {
  const projects = Array.from({ length: numProjects }, (_, index) => ({
    id: `p${index}`,
    name: `Project ${index}`,
    slug: `project-${index}`,
    role: "owner" as const,
    created_at: "2026-01-01T00:00:00Z",
  }));
  return <Filters filter={filter} projects={projects} onChange={() => undefined} />;
};

test("every state can be chosen, and a project where there are several", () => {
  assert.match(textOf(filters({}, 2)), /any state queued .* stopped .* all projects Project 0 Project 1 Archived$/);
  assert.doesNotMatch(textOf(filters({}, 1)), /all projects/);
});

test("a tag in force can be removed", () => {
  assert.match(markup(filters({ tag: "ablation" }, 1)), /aria-label="Remove the filter on tag ablation"/);
  assert.doesNotMatch(markup(filters({}, 1)), /Remove the filter/);
});
