import assert from "node:assert/strict";
import { test } from "node:test";
import { lend } from "../../testing/builders.ts";
import { gainText, lenderText, lendTitle, lentSeconds, returnText } from "./lend_words.ts";

const at = (seconds: number) => new Date(seconds * 1000).toISOString();

test("gains carry their sign", () => {
  assert.equal(gainText(12), "+12 s");
  assert.equal(gainText(-12), "−12 s");
});

test("the lender is the pool, a project, or the run itself", () => {
  assert.equal(lenderText(lend()), "the pool");
  assert.equal(lenderText(lend({ lender_kind: "project", lender: "Video" })), "Video");
  assert.equal(lenderText(lend({ lender_kind: "run", lender: "mine" })), "its own trainer lanes");
});

test("an open lend counts until now", () => {
  assert.equal(lentSeconds(lend({ begin: at(100), end: null }), 160), 60);
  assert.equal(lentSeconds(lend({ begin: at(100), end: at(130) }), 160), 30);
});

test("how a lane came back", () => {
  assert.equal(returnText(lend({ end: null, notice_at: null })), "lent");
  assert.equal(returnText(lend({ end: at(9), notice_at: null })), "let go");
  assert.match(returnText(lend({ end: null, notice_at: at(5), return_seconds: null })), /^asked back/);
  assert.equal(returnText(lend({ notice_at: at(5), return_seconds: 4, num_dropped: 0 })), "in 4.0 s");
  assert.match(returnText(lend({ notice_at: at(5), return_seconds: 4, num_dropped: 2 })), /, 2 fragments drawn again$/);
});

test("a bar says who lends to whom and why", () => {
  const title = lendTitle(lend({ lane: "a/gpu-0", run_name: "mine", reason: "idle", notice_at: at(5) }), 10);
  assert.match(title, /^a\/gpu-0: the pool → mine \(rollout\)/);
  assert.match(title, /\nidle\nAsked back/);
});
