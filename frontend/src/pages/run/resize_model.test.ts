import assert from "node:assert/strict";
import { test } from "node:test";
import { runSize } from "../../testing/builders.ts";
import { changesGang, isEmpty, NO_CHOICES, type ResizeChoices, requestOf, rolesAfter } from "./resize_model.ts";

const size = runSize();

function choices(lanes: Record<string, "rollout" | "trainer" | "reward" | "release">, added = {}): ResizeChoices {
  return { lanes: new Map(Object.entries(lanes)), added: new Map(Object.entries(added)) };
}

test("nothing chosen, or a lane's own role, asks for nothing", () => {
  assert.ok(isEmpty(requestOf(size, NO_CHOICES)));
  assert.ok(isEmpty(requestOf(size, choices({ "rollout-0": "rollout" }, { "rollout H100": 0 }))));
});

test("each choice goes where the request has it", () => {
  const asked = requestOf(size, choices({ "rollout-0": "release", "rollout-1": "trainer" }, { "rollout H100": 2 }));
  assert.deepEqual(asked, {
    add: [{ role: "rollout", device: "H100", number: 2 }],
    release: ["rollout-0"],
    change: [{ lane: "rollout-1", role: "trainer" }],
  });
  assert.deepEqual(Object.fromEntries(rolesAfter(size, choices({ "rollout-0": "release", "rollout-1": "trainer" }))), {
    rollout: 0,
    trainer: 2,
    reward: 1,
  });
});

test("the gang is replaced when other lanes train, not when rollout lanes come and go", () => {
  const asks = (of: ResizeChoices) => changesGang(size, requestOf(size, of));
  assert.ok(!asks(choices({ "rollout-0": "release" }, { "rollout H100": 1 })));
  assert.ok(asks(choices({}, { "trainer H100": 1 })));
  assert.ok(asks(choices({ "rollout-0": "trainer" })));
  assert.ok(asks(choices({ "trainer-0": "release" })));
  assert.ok(asks(choices({ "trainer-0": "rollout" })));
});
