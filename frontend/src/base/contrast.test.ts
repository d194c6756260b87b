import assert from "node:assert/strict";
import { test } from "node:test";
import { contrast, mix, THEMES, token } from "../testing/token_colours.ts";

/** WCAG 2.2, 1.4.3: text of ordinary size. */
const READABLE = 4.5;
const GROUNDS = ["page", "surface", "sunken", "raised"];
const INKS = ["ink", "ink-2", "ink-3", "accent", "good", "warn", "bad", "note", "test"];

for (const theme of THEMES) {
  test(`text of every colour is readable on every ground (${theme})`, () => {
    for (const ink of INKS) {
      for (const ground of GROUNDS) {
        const ratio = contrast(token(ink, theme), token(ground, theme));
        assert.ok(ratio >= READABLE, `--${ink} on --${ground} has ${ratio.toFixed(2)}:1`);
      }
    }
  });

  test(`what is said on a tinted ground is readable (${theme})`, () => {
    for (const [ink, ground] of [
      ["accent-ink", "accent"],
      ["accent", "accent-soft"],
      ["good", "good-soft"],
      ["warn", "warn-soft"],
      ["bad", "bad-soft"],
      ["ink", "accent-soft"],
    ] as const) {
      const ratio = contrast(token(ink, theme), token(ground, theme));
      assert.ok(ratio >= READABLE, `--${ink} on --${ground} has ${ratio.toFixed(2)}:1`);
    }
  });

  test(`the word in a pill is readable on its tint (${theme})`, () => {
    for (const tone of ["accent", "good", "bad", "warn", "note", "ink-3"]) {
      for (const ground of GROUNDS) {
        // As `.pill` mixes them.
        const word = mix(token(tone, theme), 0.7, token("ink", theme));
        const tint = mix(token(tone, theme), 0.12, token(ground, theme));
        const ratio = contrast(word, tint);
        assert.ok(ratio >= READABLE, `a pill of --${tone} on --${ground} has ${ratio.toFixed(2)}:1`);
      }
    }
  });

  test(`the number of a hatched cell of the pool is readable on its stripes (${theme})`, () => {
    const stripe = mix(token("accent", theme), 0.35, token("accent-soft", theme));
    assert.ok(contrast(token("ink", theme), stripe) >= READABLE);
  });
}
