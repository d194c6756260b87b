import assert from "node:assert/strict";
import { test } from "node:test";
import { settingSections, settingText } from "./setting_rows.ts";

test("settings stand by section in the form's order, with its labels and units", () => {
  const [batch, pipeline] = settingSections([
    { pipeline: { gap: true }, batch: { group_size: 4 } },
    { pipeline: { gap: false }, batch: { group_size: 4 } },
  ]);
  assert.deepEqual(
    [batch?.title, batch?.rows.map(({ label, unit, isSame }) => [label, unit, isSame])],
    ["Batch", [["Group size", "trajectories", true]]],
  );
  assert.deepEqual(
    pipeline?.rows.map(({ path, label, isSame }) => [path, label, isSame]),
    [["pipeline.gap", "Train while generating", false]],
  );
});

test("rewards are compared by name, wherever they stand in the list", () => {
  const shape = { name: "shape_match", weight: 1 };
  const [rewards] = settingSections([
    { rewards: [shape, { name: "jpeg", weight: 1 }] },
    { rewards: [{ name: "jpeg", weight: 2 }, shape] },
  ]);
  assert.deepEqual(
    rewards?.rows.filter(({ isSame }) => !isSame).map(({ path, values }) => [path, values]),
    [["rewards.jpeg.weight", [1, 2]]],
  );
});

test("a setting that a run lacks differs, and says so", () => {
  const [section] = settingSections([{ ema: { decay: 0.9 } }, {}]);
  assert.deepEqual(
    section?.rows.map(({ values, isSame }) => [values.map(settingText), isSame]),
    [[["0.9", "–"], false]],
  );
});

test("switches are yes and no, and long lists are counted", () => {
  assert.deepEqual([true, false, null, ["a", "b", "c", "d"], ["a"]].map(settingText), [
    "yes",
    "no",
    "–",
    "4 entries",
    "a",
  ]);
});
