/** What a file of prompts holds: lines, or a table of which one column is the prompts. Pure. */

import { csvRows } from "../../base/csv.ts";
import { isObject, type Json, type JsonObject } from "../../base/paths.ts";
import { entriesOf } from "../../base/prompts.ts";

/** The server's own bounds, `platform/catalog/checked_prompts.py`: it checks them again. */
export const MAX_UPLOAD_BYTES = 24 * 2 ** 20;
export const MAX_PROMPTS = 100_000;

/** What a column of prompts may be called; the first one found is offered. */
const TEXT_NAMES = ["prompt", "text", "caption"];
/** Columns that mean the same as the fields of a prompt. */
const OWN_NAMES = ["negative", "id"];

export interface Table {
  readonly rows: readonly (readonly string[])[];
  readonly hasHeader: boolean;
  readonly column: number;
  /** Whether the other columns become metadata. */
  readonly keepsOthers: boolean;
}

/** The table of a CSV file, with the header and the column that it most likely has. Raises `CsvRefused`. */
export function tableOf(text: string): Table {
  const rows = csvRows(text, MAX_PROMPTS + 1);
  const first = (rows[0] ?? []).map(named);
  const column = TEXT_NAMES.map((name) => first.indexOf(name)).find((index) => index >= 0);
  return {
    rows,
    hasHeader: column !== undefined || looksLikeHeader(rows),
    column: column ?? longestColumn(rows),
    keepsOthers: true,
  };
}

const named = (cell: string) => cell.trim().toLowerCase();

/** Of several columns, the first row is names when each is one distinct word and the longest cell below has more. */
function looksLikeHeader(rows: Table["rows"]): boolean {
  const [first = [], ...rest] = rows;
  const areNames = first.length > 1 && first.every((cell) => /^[A-Za-z_][\w-]*$/.test(cell.trim()));
  return (
    areNames &&
    new Set(first.map(named)).size === first.length &&
    rest.some((row) => row.some((cell) => /\s/.test(cell.trim())))
  );
}

/** The column with most characters: ids and tags are shorter than prompts. */
function longestColumn(rows: Table["rows"]): number {
  const lengths: number[] = [];
  for (const row of rows)
    for (const [index, cell] of row.entries()) lengths[index] = (lengths[index] ?? 0) + cell.length;
  return Math.max(0, lengths.indexOf(Math.max(...lengths)));
}

/** Names of the columns, for the choice; without a header, by number. */
export function columnNames({ rows, hasHeader }: Table): string[] {
  const width = rows.reduce((most, row) => Math.max(most, row.length), 0);
  return Array.from({ length: width }, (_, index) => (hasHeader && rows[0]?.[index]?.trim()) || `column ${index + 1}`);
}

/** The prompts of a table. Other columns become the prompt's fields of that name, or else metadata. */
export function entriesOfTable(table: Table): Json[] {
  const names = columnNames(table);
  return table.rows
    .slice(table.hasHeader ? 1 : 0)
    .map((row) => entryOfRow(row, names, table))
    .filter((entry) => entry !== null);
}

function entryOfRow(row: readonly string[], names: readonly string[], { column, keepsOthers }: Table): Json {
  const text = (row[column] ?? "").trim();
  if (text === "") return null;
  const others = names.flatMap((name, index): [string, string][] => {
    const cell = (row[index] ?? "").trim();
    return keepsOthers && index !== column && cell !== "" ? [[name, cell]] : [];
  });
  if (others.length === 0) return text;
  const own = others.filter(([name]) => OWN_NAMES.includes(named(name))).map(([name, cell]) => [named(name), cell]);
  const rest = others.filter(([name]) => !OWN_NAMES.includes(named(name)));
  return { text, ...Object.fromEntries(own), ...(rest.length > 0 ? { metadata: Object.fromEntries(rest) } : {}) };
}

/** The entries of a file that is no table: a JSON list, or one entry a line. */
export function entriesOfFile(text: string, name: string): Json[] {
  if (!name.toLowerCase().endsWith(".json")) return entriesOf(text.replace(/^\ufeff/, ""));
  const read = JSON.parse(text) as Json;
  const list = isObject(read) ? read.prompts : read;
  if (!Array.isArray(list)) throw new Error("the JSON must be a list of prompts, or an object with a list `prompts`");
  return list as Json[];
}

/** The entries without those that repeat an earlier one, and how many those are. */
export function withoutRepeats(entries: readonly Json[]): {
  readonly kept: readonly Json[];
  readonly numRepeats: number;
} {
  const first = new Map(entries.toReversed().map((entry) => [identity(entry), entry]));
  const kept = [...first.values()].reverse();
  return { kept, numRepeats: entries.length - kept.length };
}

/** What makes two prompts the same: the id, or else all that they say. */
function identity(entry: Json): string {
  if (!isObject(entry)) return `text ${String(entry).trim()}`;
  if (typeof entry.id === "string" && entry.id !== "") return `id ${entry.id}`;
  const keys = Object.keys(entry);
  return keys.length === 1 && typeof entry.text === "string"
    ? `text ${entry.text.trim()}`
    : JSON.stringify(sorted(entry));
}

const sorted = (entry: JsonObject) => Object.entries(entry).sort(([a], [b]) => (a < b ? -1 : 1));
