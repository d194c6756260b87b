import assert from "node:assert/strict";
import { test } from "node:test";
import { GLOSSARY } from "../base/glossary.ts";
import { attributes, markup, textOf } from "../testing/markup.ts";
import { Term, Terms } from "./term.tsx";

test("a term is the word with its definition, which only opens on demand", () => {
  const term = <Term word="lane">Lanes</Term>;
  assert.ok(textOf(term).startsWith("Lanes "));
  assert.ok(textOf(term).includes(GLOSSARY.lane.slice(0, 40)));
  assert.match(markup(term), /role="tooltip"[^>]*\shidden/);
});

test("the keyboard reaches a term, and the tooltip is its description", () => {
  const term = <Term word="bubble">bubbles</Term>;
  assert.deepEqual(attributes(term, "tabindex"), ["0"]);
  assert.deepEqual(attributes(term, "aria-describedby"), attributes(term, "id"));
});

test("a sentence keeps its words, with a term for each of the glossary", () => {
  const sentence = <Terms>Groups become fragments, and groups train.</Terms>;
  assert.equal(markup(sentence).match(/<dfn/g)?.length, 2);
  assert.ok(markup(sentence).endsWith(", and groups train."));
});
