import assert from "node:assert/strict";
import { test } from "node:test";
import { spec } from "../testing/builders.ts";
import { isVerdict, rewardKey, rewardsOf, watchedRewards, watchedVerdicts } from "./rewards.ts";

test("a reward's curves are called by its label, or by its scorer's name", () => {
  assert.equal(rewardKey({ name: "remote", label: "faces" }), "faces");
  assert.equal(rewardKey({ name: "remote", label: null }), "remote");
  assert.equal(rewardKey({ name: "remote", label: "" }), "remote");
});

const SPEC = spec([
  { name: "shape_match" },
  { name: "shape_judge", watched: true },
  { name: "shape_judge", label: "strict", watched: true },
  { name: "shape_judge", label: "trained" },
  { name: "ocr", label: "my_judge", watched: true },
]);

test("all rewards keep the order of the spec", () => {
  assert.deepEqual(rewardsOf(SPEC), ["shape_match", "shape_judge", "strict", "trained", "my_judge"]);
});

test("watched rewards are those never trained on", () => {
  assert.deepEqual(watchedRewards(SPEC), ["shape_judge", "strict", "my_judge"]);
});

test("a verdict is what the contract calls one, whatever its label says", () => {
  assert.deepEqual(watchedVerdicts(SPEC), ["shape_judge", "strict"]);
  assert.ok(isVerdict("shape_judge"));
  assert.ok(!isVerdict("shape_match"));
});
