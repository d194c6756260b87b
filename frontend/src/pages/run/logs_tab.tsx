/** The event log in plain sentences, and the engine's log lines with filters. */

import { useMemo, useState } from "preact/hooks";
import { api } from "../../api/endpoints.ts";
import { logFieldsLevelValues as LEVELS, type LogFields, type LogItem } from "../../api/schema.ts";
import { clock } from "../../base/format.ts";
import { useResource } from "../../ui/resource.ts";
import { Empty, Failed } from "../../ui/states.tsx";
import type { RunProps } from "./context.ts";
import { describe } from "./event_words.ts";
import { Stepper } from "./stepper.tsx";

const FIRST_SHOWN = 400;

export function LogsTab(props: RunProps) {
  return (
    <div class="stack">
      <section class="card">
        <Stepper {...props} />
      </section>
      <EventLog {...props} />
      <EngineLogs {...props} />
    </div>
  );
}

function EventLog({ store }: RunProps) {
  const [numShown, setNumShown] = useState(FIRST_SHOWN);
  const [type, setType] = useState("");
  const all = store.events.items.value;
  const types = useMemo(() => [...new Set(all.map((item) => item.type))].sort(), [all]);
  const items = type ? all.filter((item) => item.type === type) : all;
  return (
    <section class="card" aria-label="Events">
      <div class="card-head">
        <h2>Events</h2>
        <div class="row log-filters">
          <span class="tiny faint">newest first, never rewritten</span>
          <select aria-label="Type of event" value={type} onChange={(event) => setType(event.currentTarget.value)}>
            <option value="">all types</option>
            {types.map((one) => (
              <option key={one} value={one}>
                {one.replace("_", " ")}
              </option>
            ))}
          </select>
        </div>
      </div>
      {items.length === 0 && <Empty title="Nothing has happened yet" />}
      <ol class="log-lines events">
        {items
          .slice(-numShown)
          .toReversed()
          .map((item) => {
            const { text, tone } = describe(item);
            return (
              <li key={item.stream_seq} class={tone}>
                <time class="num">{clock(item.at)}</time>
                <span class="log-source">{item.type.replace("_", " ")}</span>
                <span>{text}</span>
              </li>
            );
          })}
      </ol>
      <More total={items.length} shown={numShown} onMore={() => setNumShown(numShown * 2)} />
    </section>
  );
}

type Level = LogFields["level"];

interface LogFilter {
  /** This severe or more; undefined: any. */
  readonly level: Level | undefined;
  readonly source: string;
  readonly search: string;
}

function EngineLogs({ store, run }: RunProps) {
  const [filter, setFilter] = useState<LogFilter>({ level: undefined, source: "", search: "" });
  const [numShown, setNumShown] = useState(FIRST_SHOWN);
  const isFiltered = Boolean(filter.level || filter.source || filter.search);
  const held = store.logs.items.value;
  // Lines older than those held in the page are only on the server, so a filter asks there as well.
  const found = useResource(
    async () => (isFiltered ? await api.logs(run.id, filter) : []),
    [run.id, filter.level, filter.source, filter.search],
  );
  const sources = useMemo(() => [...new Set(held.map((item) => item.body.source))].sort(), [held]);
  const lines = isFiltered
    ? merged(
        found.value ?? [],
        held.filter((item) => matches(item, filter)),
      )
    : held;
  return (
    <section class="card" aria-label="Engine logs">
      <div class="card-head">
        <h2>Engine logs</h2>
        <div class="row log-filters">
          <select
            aria-label="Level"
            value={filter.level ?? ""}
            onChange={(event) => setFilter({ ...filter, level: levelOf(event.currentTarget.value) })}
          >
            <option value="">all levels</option>
            {LEVELS.slice(1).map((level) => (
              <option key={level} value={level}>
                {level === "error" ? "errors" : `${level} and worse`}
              </option>
            ))}
          </select>
          <select
            aria-label="Source"
            value={filter.source}
            onChange={(event) => setFilter({ ...filter, source: event.currentTarget.value })}
          >
            <option value="">all sources</option>
            {sources.map((source) => (
              <option key={source}>{source}</option>
            ))}
          </select>
          <input
            type="search"
            placeholder="Search the lines"
            aria-label="Search the lines"
            onChange={(event) => setFilter({ ...filter, search: event.currentTarget.value })}
          />
        </div>
      </div>
      {found.error !== null && <Failed message={found.error} onRetry={found.reload} />}
      {lines.length === 0 && <Empty title={isFiltered ? "No line matches" : "No log lines yet"} />}
      <ol class="log-lines mono">
        {lines
          .slice(-numShown)
          .toReversed()
          .map((item) => (
            <li key={item.stream_seq} class={item.body.level}>
              <time class="num">{clock(item.at)}</time>
              <span class="log-source">{item.body.source}</span>
              <span>{item.body.message}</span>
            </li>
          ))}
      </ol>
      <More total={lines.length} shown={numShown} onMore={() => setNumShown(numShown * 2)} />
    </section>
  );
}

function levelOf(text: string): Level | undefined {
  return LEVELS.find((level) => level === text);
}

function matches(item: LogItem, filter: LogFilter): boolean {
  const { level, source, message } = item.body;
  return (
    (filter.level === undefined || LEVELS.indexOf(level) >= LEVELS.indexOf(filter.level)) &&
    (!filter.source || source === filter.source) &&
    message.toLowerCase().includes(filter.search.toLowerCase())
  );
}

function merged(first: readonly LogItem[], second: readonly LogItem[]): LogItem[] {
  const bySeq = new Map([...first, ...second].map((item) => [item.stream_seq, item]));
  return [...bySeq.values()].sort((a, b) => a.stream_seq - b.stream_seq);
}

function More({ total, shown, onMore }: { total: number; shown: number; onMore: () => void }) {
  if (total <= shown) return null;
  return (
    <button type="button" class="button small" onClick={onMore}>
      Show earlier ({total - shown} more)
    </button>
  );
}
