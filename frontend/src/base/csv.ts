/** Reads comma-separated values as RFC 4180 writes them, with line ends of any kind. Pure. */

/** The text is no CSV; the message says in which row and why. */
export class CsvRefused extends Error {}

/** The rows, without empty ones. Stops with `CsvRefused` beyond `mostRows`. */
export function csvRows(text: string, mostRows: number): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let at = text.startsWith("\ufeff") ? 1 : 0;
  while (at < text.length) {
    const cell = text[at] === '"' ? quotedCell(text, at, rows.length + 1) : plainCell(text, at);
    row.push(cell.value);
    at = cell.end;
    if (text[at] === ",") {
      at += 1;
      if (at < text.length && text[at] !== "\r" && text[at] !== "\n") continue;
      row.push("");
    }
    while (text[at] === "\r" || text[at] === "\n") at += 1;
    if (row.some((one) => one.trim() !== "")) rows.push(row);
    row = [];
    if (rows.length > mostRows) throw new CsvRefused(`the file must have ≤ ${mostRows} rows: split it`);
  }
  return rows;
}

interface Cell {
  readonly value: string;
  /** Position of the comma or line end after the cell. */
  readonly end: number;
}

function plainCell(text: string, start: number): Cell {
  let end = start;
  while (end < text.length && text[end] !== "," && text[end] !== "\r" && text[end] !== "\n") end += 1;
  return { value: text.slice(start, end), end };
}

/** A cell in quotes, in which two quotes stand for one. */
function quotedCell(text: string, start: number, row: number): Cell {
  let value = "";
  let from = start + 1;
  for (;;) {
    const quote = text.indexOf('"', from);
    if (quote < 0) throw new CsvRefused(`the quotes that row ${row} opens are never closed`);
    value += text.slice(from, quote);
    from = quote + 1;
    if (text[from] !== '"') break;
    value += '"';
    from += 1;
  }
  if (from < text.length && !",\r\n".includes(text[from] ?? ""))
    throw new CsvRefused(
      `row ${row} has text after a quoted cell: put it inside the quotes, or double the quotes in it`,
    );
  return { value, end: from };
}
