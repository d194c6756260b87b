import assert from "node:assert/strict";
import { test } from "node:test";
import { installBrowser } from "../testing/browser.ts";
import { ApiError, call, messageOf, searchOf, send } from "./client.ts";
import { api } from "./endpoints.ts";

test("parameters go where the schema says: into the path, the query and the body", async () => {
  const requests = installBrowser(() => ({ json: { results: [] } }));
  await call("GET", "/api/v1/runs/{run_id}/samples", {
    path: { run_id: "a/b" },
    query: { purpose: "train", batch: 3 },
  });
  await call("POST", "/api/v1/runs/{run_id}/actions", {
    path: { run_id: "r" },
    body: { action: "pause", prompts: [] },
  });
  assert.deepEqual(
    requests.map(({ method, address, body }) => [method, address, body]),
    [
      ["GET", "/api/v1/runs/a%2Fb/samples?purpose=train&batch=3", undefined],
      ["POST", "/api/v1/runs/r/actions", { action: "pause", prompts: [] }],
    ],
  );
});

test("what is not given is left out of the query", () => {
  assert.equal(searchOf({ a: 1, b: undefined, c: "", d: false }), "?a=1&d=false");
  assert.equal(searchOf({}), "");
});

test("only calls that change something carry the CSRF token", async () => {
  const requests = installBrowser();
  await send("GET", "/x");
  await send("DELETE", "/x");
  assert.deepEqual(
    requests.map(({ headers }) => headers["X-CSRFToken"]),
    [undefined, "the token"],
  );
});

test("an empty answer is null", async () => {
  installBrowser(() => ({ status: 204 }));
  assert.equal(await api.deleteRun("r"), null);
});

test("a problem becomes an error with the server's sentence and the errors by field", async () => {
  installBrowser(() => ({
    status: 400,
    json: { title: "Bad Request", detail: "`name` is missing", errors: { name: ["…"] } },
  }));
  await assert.rejects(api.createProject(""), (error: unknown) => {
    assert.ok(error instanceof ApiError);
    assert.deepEqual([error.status, error.message, error.fieldErrors], [400, "`name` is missing", { name: ["…"] }]);
    return true;
  });
});

test("refusals without words get some, by their status", async () => {
  const messages = await Promise.all(
    [403, 404, 502].map(async (status) => {
      installBrowser(() => ({ status }));
      return send("GET", "/x").catch(messageOf);
    }),
  );
  assert.match(String(messages[0]), /role in this project/);
  assert.match(String(messages[1]), /may not see it/);
  assert.equal(messages[2], "The server answered 502.");
});

test("a server that is away is said to be, and an aborted question stays one", async () => {
  installBrowser(() => new TypeError("network"));
  await assert.rejects(send("GET", "/x"), /did not answer/);
  installBrowser(() => new DOMException("aborted", "AbortError"));
  await assert.rejects(send("GET", "/x"), { name: "AbortError" });
});

test("listings give their results, and pages follow by cursor", async () => {
  const requests = installBrowser(() => ({ json: { next: null, results: [{ id: "1" }] } }));
  assert.deepEqual(await api.projects(), [{ id: "1" }]);
  await api.listRuns({ state: "running", tag: undefined }, "the cursor");
  assert.equal(requests.at(-1)?.address, "/api/v1/runs?state=running&cursor=the+cursor");
});
