import assert from "node:assert/strict";
import { test } from "node:test";
import { contrast, distance, THEMES, token } from "../testing/token_colours.ts";
import { NUM_SERIES, seriesColour, seriesDash } from "./series.ts";

/** Distance in Oklab below which two lines are easily taken for each other; one just seen apart is 0.02. */
const [FAR, DISTINCT] = [0.09, 0.06];
/** WCAG 2.2, 1.4.11: what is drawn must stand out so far from its ground. */
const DRAWN = 3;

const names = Array.from({ length: NUM_SERIES }, (_, index) => seriesColour(index));
const pairs = <T>(of: readonly T[]) =>
  of.flatMap((one, index) => of.slice(index + 1).map((other) => [one, other] as const));
const colourOf = (name: string, theme: (typeof THEMES)[number]) => token(name.slice(2), theme);

for (const theme of THEMES) {
  test(`any two of ten series are told apart by every kind of colour vision (${theme})`, () => {
    for (const [one, other] of pairs(names)) {
      const apart = distance(colourOf(one, theme), colourOf(other, theme));
      const needed = seriesDash(one).length === seriesDash(other).length ? FAR : DISTINCT;
      assert.ok(apart >= needed, `${one} and ${other} are ${apart.toFixed(3)} apart, not ${needed}`);
    }
  });

  test(`every series stands out from a card, and the first from the accent (${theme})`, () => {
    for (const name of names) {
      const ratio = contrast(colourOf(name, theme), token("surface", theme));
      assert.ok(ratio >= DRAWN, `${name} has ${ratio.toFixed(2)}:1`);
    }
    assert.ok(distance(token("series-1", theme), token("accent", theme)) >= DISTINCT);
  });

  test(`the work of a lane is told apart by every kind of colour vision (${theme})`, () => {
    const kinds = ["generate", "lent-generate", "decode", "score", "train"].map((kind) => `--span-${kind}`);
    for (const kind of kinds) {
      assert.ok(contrast(colourOf(kind, theme), token("surface", theme)) >= DRAWN, `${kind} is faint`);
    }
    for (const [one, other] of pairs(kinds)) {
      const apart = distance(colourOf(one, theme), colourOf(other, theme));
      assert.ok(apart >= 0.05, `${one} and ${other} are ${apart.toFixed(3)} apart`);
    }
  });
}

test("the first five are solid, the others dashed, and no other colour has a dash", () => {
  assert.deepEqual(
    names.map((name) => seriesDash(name).length > 0),
    [...Array(5).fill(false), ...Array(5).fill(true)],
  );
  assert.deepEqual(seriesDash("--ink-3"), []);
  assert.equal(seriesColour(NUM_SERIES), "--series-1");
});
