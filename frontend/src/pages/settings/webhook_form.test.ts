import assert from "node:assert/strict";
import { test } from "node:test";
import { hookEventValues } from "../../api/schema.ts";
import { topicsOf, webhookFrom } from "./webhook_form.tsx";

test("what is chosen is sent, its events in their order", () => {
  const form = new FormData();
  for (const [name, value] of [
    ["name", "chat"],
    ["form", "slack"],
    ["address", " https://hooks.slack.com/services/x "],
    ["events", "budget.spent"],
    ["events", "run.failed"],
  ] as const)
    form.append(name, value);
  assert.deepEqual(webhookFrom(form, "p1"), {
    project: "p1",
    name: "chat",
    form: "slack",
    address: "https://hooks.slack.com/services/x",
    events: ["run.failed", "budget.spent"],
  });
});

test("every event is offered, those that name runs to projects alone", () => {
  const offered = (isPool: boolean) => topicsOf(isPool).flatMap(([, events]) => events);
  assert.deepEqual(new Set([...offered(false), ...offered(true)]), new Set(hookEventValues));
  assert.ok(offered(true).every((event) => !event.startsWith("run.") && !event.startsWith("reward_hacking.")));
});
