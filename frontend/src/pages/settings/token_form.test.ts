import assert from "node:assert/strict";
import { test } from "node:test";
import { tokenFrom } from "./token_form.tsx";

function filled(entries: readonly (readonly [string, string])[]): FormData {
  const form = new FormData();
  for (const [name, value] of entries) form.append(name, value);
  return form;
}

test("a token without limits names no project and no pool, and reads", () => {
  const form = filled([
    ["name", "watch"],
    ["days", "30"],
  ]);
  assert.deepEqual(tokenFrom(form), {
    name: "watch",
    scopes: ["read"],
    projects: null,
    pools: null,
    expires_in_days: 30,
  });
});

test("what is chosen is sent, each scope once", () => {
  const form = filled([
    ["name", "sweep"],
    ["days", "7"],
    ["scopes", "run"],
    ["scopes", "pool"],
    ["projects", "p1"],
    ["projects", "p2"],
    ["pools", "h100"],
  ]);
  const { scopes, projects, pools } = tokenFrom(form);
  assert.deepEqual(
    { scopes, projects, pools },
    { scopes: ["read", "run", "pool"], projects: ["p1", "p2"], pools: ["h100"] },
  );
});
