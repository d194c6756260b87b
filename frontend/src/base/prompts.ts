/** Prompts as lines: a text, or a JSON object for one with more than text. */

import type { Prompt } from "../api/schema.ts";
import { isObject, type Json } from "./paths.ts";

/** The entry that a line is; one that begins like an object and is none stays text. */
export function entryOf(line: string): Json {
  if (!line.startsWith("{")) return line;
  try {
    const parsed: unknown = JSON.parse(line);
    return isObject(parsed) ? parsed : line;
  } catch {
    return line;
  }
}

/** The line that `entryOf` reads. */
export function lineOf(entry: Json): string {
  return isObject(entry) ? JSON.stringify(entry) : String(entry);
}

/** All entries of a text, a line each; empty lines are left out. */
export function entriesOf(text: string): Json[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean)
    .map(entryOf);
}

/** What the model is asked to generate. */
export function textOf(prompt: Prompt): string {
  return typeof prompt === "string" ? prompt : prompt.text;
}
