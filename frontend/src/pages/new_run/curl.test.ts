import assert from "node:assert/strict";
import { test } from "node:test";
import { equivalentCurl } from "./curl.ts";

test("the command quotes what a shell would otherwise read", () => {
  const command = equivalentCurl("http://host", { project: "p", name: "it's $HOME", spec: {} });
  assert.ok(command.includes(`it'\\''s $HOME`));
  assert.ok(command.startsWith("curl -X POST http://host/api/v1/runs"));
});

test("the command sends what the button sends, with a token from the environment", () => {
  const body = { project: "p", name: "n", spec: { seed: 3 }, parent: "another" };
  const command = equivalentCurl("http://host", body);
  assert.match(command, /Bearer \$TANDEM_TOKEN/);
  const json = /-d '([^']*)'/.exec(command)?.[1] ?? "";
  assert.deepEqual(JSON.parse(json), body);
});
