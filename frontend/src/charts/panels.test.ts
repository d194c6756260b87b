import assert from "node:assert/strict";
import { test } from "node:test";
import { metricValues } from "../api/schema.ts";
import {
  curveLabel,
  curveTitle,
  leftOver,
  METRIC_PANELS,
  matchingKeys,
  measuredPanels,
  ofKey,
  overviewPanels,
  PINNED,
  sectionsOf,
} from "./panels.ts";

const ids = (known: string[]) => measuredPanels(METRIC_PANELS, new Set(known)).map((panel) => panel.id);

test("no two panels are called alike, and each says what it shows", () => {
  assert.equal(new Set(METRIC_PANELS.map((panel) => panel.id)).size, METRIC_PANELS.length);
  for (const panel of METRIC_PANELS) assert.ok(panel.title && panel.help && panel.keys.length > 0, panel.id);
});

test("the overview draws verdicts beside the held-out reward", () => {
  const [, evaluation] = overviewPanels(["shape_judge"]);
  assert.deepEqual(evaluation?.keys, ["eval/reward", "eval/part/shape_judge"]);
});

test("a panel shows the curves that are known, in its own order", () => {
  const seconds = METRIC_PANELS.find((panel) => panel.id === "seconds");
  assert.ok(seconds);
  assert.deepEqual(matchingKeys(seconds, ["speed/train_seconds", "speed/batch_seconds", "other"]), [
    "speed/batch_seconds",
    "speed/train_seconds",
  ]);
});

test("nothing reported is hidden: what no panel shows, and is no band, gets one of its own", () => {
  const known = ["reward/mean", "reward/std", "eval/part/shape_judge", "new/thing"];
  assert.deepEqual(leftOver(known), ["eval/part/shape_judge", "new/thing"]);
});

test("what an algorithm does not measure has no panel, once it is known", () => {
  assert.ok(ids([]).includes("loss"));
  assert.ok(!ids([]).includes("clip"));
  assert.ok(ids(["reward/mean", "policy/clip_fraction"]).includes("clip"));
  assert.deepEqual(ids(["reward/mean", "policy/loss"]), ["reward", "loss"]);
});

test("a lone curve has a readable title", () => {
  assert.equal(curveTitle("eval/part/shape_judge"), "Held-out: shape judge");
  assert.equal(curveTitle("reward/retries/remote"), "Calls repeated: remote");
  assert.equal(curveTitle("policy/kl"), "KL to the reference");
  assert.equal(curveTitle("staleness/max"), "Staleness, largest");
  assert.equal(curveTitle("unknown"), "unknown");
});

test("every metric of the contract has a title without its slashes", () => {
  for (const key of metricValues) {
    const title = curveTitle(key.replace("{name}", "ocr"));
    assert.ok(title && !title.includes("/"), `${key}: ${title}`);
  }
});

test("a curve in a panel is named by its last part", () => {
  assert.equal(curveLabel("eval/part/shape_judge"), "shape judge");
  assert.equal(curveLabel("speed/train_seconds"), "train");
});

test("panels stand in sections by what they measure, pinned ones first and once", () => {
  const panels = [...METRIC_PANELS, ofKey("eval/part/ocr"), ofKey("own/number")];
  const sections = new Map(sectionsOf(panels, ["speed", "own/number", "gone"]));
  assert.deepEqual(
    [...sections.keys()],
    [PINNED, "Reward and evaluation", "Policy", "Speed", "Lanes and staleness"],
    "no section is empty",
  );
  assert.deepEqual(
    sections.get(PINNED)?.map((panel) => panel.id),
    ["speed", "own/number"],
  );
  assert.ok(sections.get("Reward and evaluation")?.some((panel) => panel.id === "eval/part/ocr"));
  const shown = [...sections.values()].flat();
  assert.deepEqual([shown.length, new Set(shown).size], [panels.length, panels.length]);
});
