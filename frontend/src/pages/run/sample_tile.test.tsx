import assert from "node:assert/strict";
import { test } from "node:test";
import { sample } from "../../testing/builders.ts";
import { attributes, markup, textOf } from "../../testing/markup.ts";
import { Enlarged, Tile } from "./sample_tile.tsx";

const SCALE = { low: 0, high: 1 };
const nothing = () => undefined;

test("a tile says its prompt, member and reward to those who do not see it", () => {
  const [label] = attributes(<Tile sample={sample({ member: 3 })} scale={SCALE} onOpen={nothing} />, "aria-label");
  assert.equal(label, "a red square, member 3, reward 0.5. Enlarge");
});

test("its level is where the reward lies on the scale", () => {
  const level = (reward: number | null) =>
    attributes(<Tile sample={sample({ reward })} scale={{ low: -1, high: 1 }} onOpen={nothing} />, "style")[0];
  assert.match(level(0.5) ?? "", /75%/);
  assert.match(level(null) ?? "", /--level:\s*0%/);
});

test("the verdict is a tick or a cross, and nothing where none was given", () => {
  const verdict = (value: number | undefined) =>
    textOf(
      <Tile
        sample={sample({ rewards: value === undefined ? {} : { judge: value } })}
        scale={SCALE}
        verdict="judge"
        onOpen={nothing}
      />,
    );
  assert.equal(verdict(1), "✓");
  assert.equal(verdict(0), "✗");
  assert.equal(verdict(undefined), "");
});

test("a detailed tile says advantage and staleness where there are any", () => {
  const text = (fields: Parameters<typeof sample>[0]) =>
    textOf(<Tile sample={sample(fields)} scale={SCALE} detailed onOpen={nothing} />);
  assert.equal(text({ advantage: -1.26, staleness: 2 }), "0.5 −1.3 −2v");
  assert.equal(text({ advantage: 0 }), "0.5 +0.0");
  assert.equal(text({}), "0.5");
});

test("enlarged, a sample says every reward of the run, missing ones with the reason", () => {
  const one = sample({ rewards: { shape_match: 0.25 }, missing: { remote: "timed out" }, lane: "" });
  const text = textOf(<Enlarged sample={one} rewards={["shape_match", "remote"]} onClose={nothing} />);
  assert.match(text, /Shape match 0\.25 Remote no score: timed out Advantage none: not trained on/);
  assert.match(text, /Seed 1 Lane –/);
});

test("pictures and clips are shown and downloaded as what they are", () => {
  const picture = markup(<Enlarged sample={sample()} rewards={[]} onClose={nothing} />);
  assert.match(picture, /<img src="\/image\.png"[^>]*>/);
  assert.match(picture, /download="a red square, seed 1\.png"/);
  const clip = sample({ media_type: "video/webm", clip_url: "/clip.webm" });
  const shown = markup(<Enlarged sample={clip} rewards={[]} onClose={nothing} />);
  assert.match(shown, /<video src="\/clip\.webm" poster="\/image\.png"/);
  assert.match(shown, /download="a red square, seed 1\.webm"/);
});
