import assert from "node:assert/strict";
import { test } from "node:test";
import { specSchema } from "../../testing/committed.ts";
import { addable, rewardsIn, withReward } from "./reward_list.ts";

const SCHEMA = specSchema();
const names = (rewards: Parameters<typeof addable>[1]) => addable(SCHEMA, rewards).map(({ value }) => value);

test("every scorer may be added once", () => {
  assert.equal(names([]).length, SCHEMA.at("rewards.*.name").choices.length);
  assert.ok(!names([{ name: "shape_match" }]).includes("shape_match"));
});

test("a scorer with settings of its own may be added again, under another label", () => {
  const once = withReward([], "remote");
  assert.ok(names(once).includes("remote"));
  assert.deepEqual(withReward(once, "remote").at(-1), { name: "remote", weight: 1, watched: false, label: "remote_2" });
});

test("a verdict is watched when it is added: it judges what others reward", () => {
  assert.deepEqual(withReward([], "shape_judge"), [{ name: "shape_judge", weight: 1, watched: true }]);
  assert.deepEqual(withReward([], "shape_match"), [{ name: "shape_match", weight: 1, watched: false }]);
});

test("what is no list of rewards holds none", () => {
  assert.deepEqual(rewardsIn(undefined), []);
  assert.deepEqual(rewardsIn("ocr"), []);
  assert.deepEqual(rewardsIn([{ name: "ocr" }, 7]), [{ name: "ocr" }]);
});
