/** The runs, as many as there are: only the rows on the screen are in the document. Keys: j, k, x, Enter. */

import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useVirtualLines } from "../../ui/virtual_lines.ts";
import { chosenColumns } from "./columns.tsx";
import { Awaited, Head, Heading, Row, Space } from "./run_rows.tsx";
import type { GroupBy, Order, RunView } from "./run_view.ts";
import { useSparklines } from "./sparkline.tsx";
import { useTableKeys } from "./table_keys.ts";
import { TableLines } from "./table_lines.ts";
import { STRETCH, type TableRows } from "./table_rows.ts";

/** Heights in pixels, as tables.css gives them to the lines: without them the scroll bar would not know its length. */
const [ROW, PHONE_ROW, HEADING] = [46, 78, 36];
const PHONE = "(max-width: 760px)";

interface Props {
  readonly rows: TableRows;
  readonly view: RunView;
  readonly chosen: ReadonlySet<string>;
  readonly onToggle: (id: string) => void;
  readonly onTag: (tag: string) => void;
  readonly onOrder: (order: Order) => void;
}

/** The lines that are on the screen, with the runs and curves of those that are rows. */
function useLinesInView(rows: TableRows, folded: ReadonlySet<string>) {
  const version = rows.version.value;
  const body = useRef<HTMLTableSectionElement>(null);
  const lines = useMemo(() => new TableLines(rows.number ?? 0, rows.groups, folded), [version, folded]);
  const isPhone = matchMedia(PHONE).matches;
  const heightOf = useCallback(
    (index: number) => (lines.at(index).kind === "heading" ? HEADING : isPhone ? PHONE_ROW : ROW),
    [lines, isPhone],
  );
  const shown = useVirtualLines(body, lines.number, heightOf, isPhone ? 0 : HEADING);
  // The numbers of a list that has just become shorter may still be of the longer one.
  const lineAt = (index: number) => (index >= 0 && index < lines.number ? lines.at(index) : null);
  const runAt = (index: number) => {
    const line = lineAt(index);
    return line?.kind === "row" ? rows.at(line.offset) : undefined;
  };
  const inView = shown.indices.map(lineAt).filter((line) => line?.kind === "row");
  const [first, last] = [inView[0]?.offset ?? 0, inView.at(-1)?.offset ?? 0];
  useEffect(() => rows.see(first, last), [rows, first, last, version]);
  const near = useMemo(() => rows.nearView(), [version, Math.floor(first / STRETCH), Math.floor(last / STRETCH)]);
  return { body, lines, shown, lineAt, runAt, curves: useSparklines(near) };
}

/** The values of groups that are folded, and what folds or unfolds one. */
function useFolded(group: GroupBy | undefined): [ReadonlySet<string>, (value: string) => void] {
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => setFolded(new Set()), [group]);
  const fold = (value: string) => {
    const next = new Set(folded);
    if (!next.delete(value)) next.add(value);
    setFolded(next);
  };
  return [folded, fold];
}

export function RunsTable({ rows, view, chosen, onToggle, onTag, onOrder }: Props) {
  const columns = chosenColumns();
  const [folded, fold] = useFolded(view.group);
  const { body, lines, shown, lineAt, runAt, curves } = useLinesInView(rows, folded);
  const current = useTableKeys({ lines, runAt, scrollTo: shown.scrollTo, onToggle });
  const shownLine = (index: number) => {
    const line = lineAt(index);
    if (line === null) return null;
    if (line.kind === "heading") {
      return <Heading key={`group ${line.group.value}`} {...line} by={view.group} columns={columns} onFold={fold} />;
    }
    const run = rows.at(line.offset);
    if (!run) return <Awaited key={`row ${line.offset}`} columns={columns} />;
    return (
      <Row
        key={`row ${line.offset}`}
        run={run}
        index={index}
        columns={columns}
        rewards={curves.get(run.id) ?? []}
        isChosen={chosen.has(run.id)}
        isCurrent={index === current}
        onToggle={onToggle}
        onTag={onTag}
      />
    );
  };
  return (
    <table class="runs-table" aria-rowcount={lines.number + 1}>
      <Head columns={columns} view={view} onOrder={onOrder} />
      <tbody ref={body}>
        <Space height={shown.above} columns={columns} />
        {shown.indices.map(shownLine)}
        <Space height={shown.below} columns={columns} />
      </tbody>
    </table>
  );
}
