/** Makes a prompt set from a file or from pasted lines: shows what was read, offers the column of a table and the removal
 * of repeats, then sends it. */

import type { TargetedEvent, TargetedSubmitEvent } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import { messageOf } from "../../api/client.ts";
import { api } from "../../api/endpoints.ts";
import type { Project } from "../../api/schema.ts";
import { bytes, number } from "../../base/format.ts";
import type { Json } from "../../base/paths.ts";
import { entriesOf, lineOf } from "../../base/prompts.ts";
import { Failed } from "../../ui/states.tsx";
import { toast } from "../../ui/toasts.tsx";
import {
  columnNames,
  entriesOfFile,
  entriesOfTable,
  MAX_PROMPTS,
  MAX_UPLOAD_BYTES,
  type Table,
  tableOf,
  withoutRepeats,
} from "./prompt_upload.ts";

/** What was chosen: a table with its choices, the entries of a file, or text that is typed. */
type Source = { readonly table: Table } | { readonly entries: readonly Json[] } | { readonly text: string };

const NOTHING: Source = { text: "" };

function entriesIn(source: Source): readonly Json[] {
  if ("table" in source) return entriesOfTable(source.table);
  return "entries" in source ? source.entries : entriesOf(source.text);
}

/** Reads a file, its size first. Throws with what to do. */
async function sourceOf(file: File): Promise<Source> {
  if (file.size > MAX_UPLOAD_BYTES)
    throw new Error(`${file.name} must be ≤ ${bytes(MAX_UPLOAD_BYTES)}, got ${bytes(file.size)}: split it`);
  const text = await file.text();
  if (file.name.toLowerCase().endsWith(".csv")) return { table: tableOf(text) };
  return { entries: entriesOfFile(text, file.name) };
}

export function PromptUpload({ projects, onDone }: { projects: readonly Project[]; onDone: () => void }) {
  const form = useRef<HTMLFormElement>(null);
  const [source, setSource] = useState<Source>(NOTHING);
  const [error, setError] = useState<string | null>(null);
  const entries = useMemo(() => entriesIn(source), [source]);
  const readFile = async (event: TargetedEvent<HTMLInputElement>) => {
    const file = event.currentTarget.files?.[0];
    if (!file) return;
    try {
      setSource(await sourceOf(file));
      setError(null);
    } catch (failure) {
      setSource(NOTHING);
      setError(messageOf(failure));
    }
    const name = form.current?.elements.namedItem("name");
    if (name instanceof HTMLInputElement && !name.value) name.value = file.name.replace(/\.[^.]+$/, "");
  };
  const clear = () => {
    setSource(NOTHING);
    form.current?.reset();
  };
  const submit = async (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    const body = { project: String(data.get("project")), name: String(data.get("name")), prompts: [...entries] };
    try {
      await api.createPromptSet(body);
      setError(null);
      clear();
      toast(`Uploaded ${number(entries.length)} prompts.`);
      onDone();
    } catch (failure) {
      setError(messageOf(failure));
    }
  };
  if (projects.length === 0) return null;
  const { numRepeats, kept } = withoutRepeats(entries);
  const isReady = entries.length > 0 && entries.length <= MAX_PROMPTS && numRepeats === 0;
  return (
    <form ref={form} class="card stack" aria-label="Upload a prompt set" onSubmit={(event) => void submit(event)}>
      <h2>Upload a set</h2>
      <div class="inline-form">
        <label class="field">
          <span>Name</span>
          <input name="name" required maxLength={100} />
        </label>
        <label class="field">
          <span>Project</span>
          <select name="project">
            {projects.map((project) => (
              <option key={project.id} value={project.id}>
                {project.name}
              </option>
            ))}
          </select>
        </label>
        <label class="field">
          <span>From a file: CSV, JSON or lines</span>
          <input type="file" accept=".txt,.csv,.json,.jsonl,text/plain" onChange={(event) => void readFile(event)} />
        </label>
      </div>
      {"text" in source ? (
        <label class="field">
          <span>Prompts, one a line: a text, or a JSON object with text and metadata</span>
          <textarea rows={6} value={source.text} onInput={(event) => setSource({ text: event.currentTarget.value })} />
        </label>
      ) : (
        <FirstPrompts entries={entries} clear={clear} />
      )}
      {"table" in source && <Columns table={source.table} choose={(table) => setSource({ table })} />}
      {numRepeats > 0 && (
        <p class="notice warn row-between">
          <span>
            {number(numRepeats)} {numRepeats === 1 ? "prompt repeats" : "prompts repeat"} an earlier one; each group
            needs a prompt of its own.
          </span>
          <button
            type="button"
            class="button small"
            onClick={() => setSource("text" in source ? { text: kept.map(lineOf).join("\n") } : { entries: kept })}
          >
            Remove {number(numRepeats)}
          </button>
        </p>
      )}
      {entries.length > MAX_PROMPTS && (
        <p class="notice bad">
          A set must hold ≤ {number(MAX_PROMPTS)} prompts, got {number(entries.length)}: split it.
        </p>
      )}
      {error !== null && <Failed message={error} />}
      <div class="row">
        <button type="submit" class="button primary" disabled={!isReady}>
          Upload {entries.length > 0 ? `${number(entries.length)} prompts` : ""}
        </button>
      </div>
    </form>
  );
}

/** How many prompts a file has and what comes first: a hundred thousand lines are not to be drawn. */
function FirstPrompts({ entries, clear }: { entries: readonly Json[]; clear: () => void }) {
  return (
    <div class="stack-s">
      <div class="row-between">
        <b class="small num">{number(entries.length)} prompts</b>
        <button type="button" class="button small quiet" onClick={clear}>
          Choose another
        </button>
      </div>
      <ul class="bullets small muted">
        {entries.slice(0, 3).map((entry, index) => (
          <li key={index}>{lineOf(entry)}</li>
        ))}
      </ul>
    </div>
  );
}

/** Which column of a table is the prompts, and what becomes of the rest. */
function Columns({ table, choose }: { table: Table; choose: (table: Table) => void }) {
  const names = columnNames(table);
  return (
    <div class="row">
      <label class="field">
        <span>Column of prompts</span>
        <select
          value={String(table.column)}
          onChange={(event) => choose({ ...table, column: Number(event.currentTarget.value) })}
        >
          {names.map((name, index) => (
            <option key={index} value={String(index)}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={table.hasHeader}
          onChange={(event) => choose({ ...table, hasHeader: event.currentTarget.checked })}
        />
        the first row is a header
      </label>
      {names.length > 1 && (
        <label class="check">
          <input
            type="checkbox"
            checked={table.keepsOthers}
            onChange={(event) => choose({ ...table, keepsOthers: event.currentTarget.checked })}
          />
          keep the other columns as metadata
        </label>
      )}
    </div>
  );
}
