/** Lines of the YAML editor: which have something to say, and where they lie in the text. */

import type { SpecError } from "./validation.ts";

export const EDITOR_ID = "spec-as-yaml";

/** Select a line in the editor, which scrolls to it. */
export function selectLine(line: number): void {
  const editor = document.getElementById(EDITOR_ID);
  if (!(editor instanceof HTMLTextAreaElement)) return;
  const [start, end] = lineRange(editor.value, line);
  // A browser scrolls to the caret that it is given before the focus.
  editor.setSelectionRange(start, start);
  editor.blur();
  editor.focus();
  editor.setSelectionRange(start, end);
}

/** Messages by line, ascending; errors without a line are left out. */
export function messagesByLine(errors: readonly SpecError[]): Map<number, string[]> {
  const found = new Map<number, string[]>();
  for (const { line, message } of [...errors].sort((a, b) => (a.line ?? 0) - (b.line ?? 0))) {
    if (line === null) continue;
    found.set(line, [...(found.get(line) ?? []), message]);
  }
  return found;
}

/** Begin and end of a line, counted from 1, as offsets in the text. */
export function lineRange(text: string, line: number): [start: number, end: number] {
  const lines = text.split("\n");
  const before = lines.slice(0, line - 1);
  const start = before.reduce((sum, one) => sum + one.length + 1, 0);
  return [Math.min(start, text.length), Math.min(start + (lines[line - 1]?.length ?? 0), text.length)];
}
