import assert from "node:assert/strict";
import { test } from "node:test";
import { glossaryPage } from "../testing/committed.ts";
import { GLOSSARY, partsOf } from "./glossary.ts";

/** The paragraph of a word, without its markup. */
function paragraphOf(word: string): string | undefined {
  const paragraphs = glossaryPage().split(/\n\s*\n/);
  const found = paragraphs.find((paragraph) => new RegExp(`^\\*\\*${word}\\b`, "i").test(paragraph));
  return found
    ?.replace(/^\*\*.*?\*\*\s*/, "")
    .replace(/\s+/g, " ")
    .replaceAll("`", "")
    .replace(/"([^"]*)"/g, "“$1”")
    .trim();
}

test("every definition is the glossary's own", () => {
  for (const [word, definition] of Object.entries(GLOSSARY)) assert.equal(definition, paragraphOf(word), word);
});

test("a sentence is cut at the first occurrence of each word, in any of its forms", () => {
  assert.deepEqual(partsOf("Lanes are lent: a lane on loan takes fragments."), [
    { text: "Lanes", word: "lane" },
    { text: " are " },
    { text: "lent", word: "lend" },
    { text: ": a lane on loan takes " },
    { text: "fragments", word: "fragment" },
    { text: "." },
  ]);
});

test("what is cut is the sentence again, and a sentence without words stays whole", () => {
  const sentence = "8 groups of 8 = 64 trajectories, in 64 fragments of 1";
  assert.equal(
    partsOf(sentence)
      .map((part) => part.text)
      .join(""),
    sentence,
  );
  assert.deepEqual(partsOf("No gain is predicted."), [{ text: "No gain is predicted." }]);
  assert.deepEqual(partsOf("mini-batches close"), [{ text: "mini-batches close" }], "a mini-batch is no batch");
  assert.deepEqual(partsOf("backgrounds, planes"), [{ text: "backgrounds, planes" }], "parts of words do not count");
});
