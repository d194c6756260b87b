/** The runs, as many as there are: only the rows on the screen are in the document. Keys: j, k, x, Enter. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { ListedRun, RunGroup } from "../../api/schema.ts";
import { Icon } from "../../ui/icon.tsx";
import { useVirtualLines } from "../../ui/virtual_lines.ts";
import { type Column, chosenColumns } from "./columns.tsx";
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

export function RunsTable({ rows, view, chosen, onToggle, onTag, onOrder }: Props) {
  const version = rows.version.value;
  const columns = chosenColumns();
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => setFolded(new Set()), [view.group]);
  const lines = useMemo(() => new TableLines(rows.number ?? 0, rows.groups, folded), [version, folded]);
  const heading = useRef<HTMLTableSectionElement>(null);
  const isPhone = matchMedia(PHONE).matches;
  const heightOf = useMemo(
    () => (index: number) => (lines.at(index).kind === "heading" ? HEADING : isPhone ? PHONE_ROW : ROW),
    [lines, isPhone],
  );
  const shown = useVirtualLines(heading, lines.number, heightOf, isPhone ? 0 : HEADING);
  const offsetAt = (index: number) => {
    const line = index >= 0 && index < lines.number ? lines.at(index) : null;
    return line?.kind === "row" ? line.offset : null;
  };
  const offsets = shown.indices.map(offsetAt).filter((offset) => offset !== null);
  const [first, last] = [offsets[0] ?? 0, offsets.at(-1) ?? 0];
  useEffect(() => rows.see(first, last), [rows, first, last, version]);
  const near = useMemo(() => rows.nearView(), [version, Math.floor(first / STRETCH), Math.floor(last / STRETCH)]);
  const curves = useSparklines(near);
  const runAt = (index: number) => {
    const offset = offsetAt(index);
    return offset === null ? undefined : rows.at(offset);
  };
  const current = useTableKeys({ lines, runAt, scrollTo: shown.scrollTo, onToggle });
  const fold = (value: string) => {
    const next = new Set(folded);
    if (!next.delete(value)) next.add(value);
    setFolded(next);
  };
  return (
    <table class="runs-table" aria-rowcount={lines.number + 1}>
      <Head columns={columns} view={view} onOrder={onOrder} section={heading} />
      <tbody>
        <Space height={shown.above} columns={columns} />
        {shown.indices.map((index) => {
          if (index >= lines.number) return null;
          const line = lines.at(index);
          if (line.kind === "heading") {
            return (
              <Heading key={`group ${line.group.value}`} {...line} by={view.group} columns={columns} onFold={fold} />
            );
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
        })}
        <Space height={shown.below} columns={columns} />
      </tbody>
    </table>
  );
}

interface HeadProps {
  readonly columns: readonly Column[];
  readonly view: RunView;
  readonly onOrder: (order: Order) => void;
  readonly section: preact.RefObject<HTMLTableSectionElement | null>;
}

function Head({ columns, view, onOrder, section }: HeadProps) {
  const sort = (order: Order) => (view.order !== order ? "none" : view.descending ? "descending" : "ascending");
  const button = (label: string, order: Order) => (
    <button type="button" class="sort" onClick={() => onOrder(order)}>
      {label} {view.order === order && <Icon name={view.descending ? "descending" : "ascending"} />}
    </button>
  );
  return (
    <thead ref={section}>
      <tr>
        <th class="choose-cell">
          <span class="visually-hidden">Choose</span>
        </th>
        <th aria-sort={sort("name")}>{button("Run", "name")}</th>
        {columns.map(({ id, label, order, width, isRight }) => (
          <th key={id} style={{ width }} class={isRight ? "right" : ""} aria-sort={order && sort(order)}>
            {order ? button(label, order) : label}
          </th>
        ))}
      </tr>
    </thead>
  );
}

interface RowProps {
  readonly run: ListedRun;
  readonly index: number;
  readonly columns: readonly Column[];
  readonly rewards: readonly number[];
  readonly isChosen: boolean;
  readonly isCurrent: boolean;
  readonly onToggle: (id: string) => void;
  readonly onTag: (tag: string) => void;
}

export function Row({ run, index, columns, rewards, isChosen, isCurrent, onToggle, onTag }: RowProps) {
  return (
    <tr class={`link ${isChosen ? "chosen" : ""} ${isCurrent ? "current" : ""}`} aria-rowindex={index + 2}>
      <td class="choose-cell">
        <input type="checkbox" aria-label={`Choose ${run.name}`} checked={isChosen} onChange={() => onToggle(run.id)} />
      </td>
      <td class="run-cell">
        <a class="run-name" href={`/runs/${run.id}`} title={run.name}>
          {run.name}
        </a>
        {run.tags.map((tag) => (
          <button key={tag} type="button" class="tag" title={`Show runs tagged ${tag}`} onClick={() => onTag(tag)}>
            {tag}
          </button>
        ))}
        {run.warning && (
          <span class="warn" title={run.warning}>
            <Icon name="warning" />
            <span class="visually-hidden">{run.warning}</span>
          </span>
        )}
      </td>
      {columns.map(({ id, isRight, show }) => (
        <td key={id} class={`${id}-cell num ${isRight ? "right" : ""}`}>
          {show({ run, rewards })}
        </td>
      ))}
    </tr>
  );
}

function Heading(props: {
  group: RunGroup;
  isFolded: boolean;
  by: GroupBy | undefined;
  columns: readonly Column[];
  onFold: (value: string) => void;
}) {
  const { group, isFolded } = props;
  const none = props.by === "tag" ? "no tag" : "a deleted account";
  return (
    <tr class="group-row">
      <th colSpan={props.columns.length + 2} scope="rowgroup">
        <button type="button" class="sort" aria-expanded={!isFolded} onClick={() => props.onFold(group.value)}>
          <Icon name={isFolded ? "right" : "down"} /> {group.value || none}
          <span class="count">{group.number.toLocaleString("en-GB")}</span>
        </button>
      </th>
    </tr>
  );
}

function Awaited({ columns }: { columns: readonly Column[] }) {
  return (
    <tr aria-busy="true">
      <td colSpan={columns.length + 2}>
        <div class="loading-bar" style={{ width: "38%" }} />
      </td>
    </tr>
  );
}

function Space({ height, columns }: { height: number; columns: readonly Column[] }) {
  return height <= 0 ? null : (
    <tr class="space">
      <td colSpan={columns.length + 2} style={{ height: `${height}px` }} />
    </tr>
  );
}
