/** A list written as text. What is being typed stays as typed (a trailing comma, an empty line) although the form is
 * drawn again with each answer of the server; the list follows every key. */

import { useState } from "preact/hooks";
import { isList, type Json, sameJson } from "../../base/paths.ts";
import { entryOf, lineOf } from "../../base/prompts.ts";

const WRITTEN = { lines: { split: "\n", join: "\n" }, words: { split: ",", join: ", " } } as const;

interface Props {
  readonly id: string;
  readonly name: string;
  readonly disabled?: boolean;
  readonly "aria-invalid": boolean;
  readonly "aria-describedby": string;
  /** One entry a line, a text or a JSON object; or words with commas between. */
  readonly list: keyof typeof WRITTEN;
  readonly rows?: number;
  readonly value: Json | undefined;
  readonly onChange: (entries: readonly Json[]) => void;
}

export function EntriesInput({ list, rows = 3, value, onChange, ...input }: Props) {
  const [draft, setDraft] = useState("");
  const { split, join } = WRITTEN[list];
  const entries = (text: string) =>
    text
      .split(split)
      .map((entry) => entry.trim())
      .filter(Boolean)
      .map((entry) => (list === "lines" ? entryOf(entry) : entry));
  const known = isList(value) ? value : [];
  const text = sameJson(entries(draft), known) ? draft : known.map(lineOf).join(join);
  const take = (typed: string) => {
    setDraft(typed);
    onChange(entries(typed));
  };
  return list === "lines" ? (
    <textarea {...input} rows={rows} value={text} onInput={(event) => take(event.currentTarget.value)} />
  ) : (
    <input {...input} value={text} onInput={(event) => take(event.currentTarget.value)} />
  );
}
