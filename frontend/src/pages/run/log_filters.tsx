/** What of the log is shown: severity, source, kind, words, and how times are told. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { LogLevel } from "../../api/schema.ts";
import type { RunStore } from "../../live/run_store.ts";
import { Segmented } from "../../ui/controls.tsx";
import { Icon } from "../../ui/icon.tsx";
import { KINDS, type LogView } from "./log_view.ts";

const LEVELS: readonly { readonly value: LogLevel; readonly label: string }[] = [
  { value: "debug", label: "Everything" },
  { value: "info", label: "Info and worse" },
  { value: "warning", label: "Warnings and errors" },
  { value: "error", label: "Errors" },
];
/** Long enough for a word to be typed, short enough to feel prompt. */
const TYPING_MILLISECONDS = 300;

interface Props {
  readonly store: RunStore;
  readonly view: LogView;
  readonly onChange: (change: Partial<LogView>) => void;
  /** Where the entries can be had as a text. */
  readonly download: string;
}

export function LogFilters({ store, view, onChange, download }: Props) {
  return (
    <div class="log-filters" role="search" aria-label="Filter the log">
      <SearchField value={view.search} onChange={(search) => onChange({ search })} />
      <select
        aria-label="Level"
        value={view.level}
        onChange={(event) => onChange({ level: LEVELS[event.currentTarget.selectedIndex]?.value ?? "info" })}
      >
        {LEVELS.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
      <SourceField store={store} value={view.source} onChange={(source) => onChange({ source })} />
      <select aria-label="Kind" value={view.kind} onChange={(event) => onChange({ kind: event.currentTarget.value })}>
        <option value="">All kinds</option>
        {KINDS.map(({ id, label }) => (
          <option key={id} value={id}>
            {label}
          </option>
        ))}
      </select>
      <Segmented
        label="Times"
        value={view.time}
        onChange={(time) => onChange({ time })}
        choices={[
          { value: "clock", label: "Clock" },
          { value: "start", label: "Since start" },
        ]}
      />
      <a class="button small" href={download} download>
        <Icon name="download" /> Text
      </a>
    </div>
  );
}

function SearchField({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const [text, setText] = useState(value);
  const latest = useRef(onChange);
  latest.current = onChange;
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text === value) return undefined;
    const timer = setTimeout(() => latest.current(text), TYPING_MILLISECONDS);
    return () => clearTimeout(timer);
  }, [text, value]);
  return (
    <input
      type="search"
      placeholder="Search the log"
      aria-label="Search the log"
      value={text}
      onInput={(event) => setText(event.currentTarget.value)}
    />
  );
}

function SourceField(props: { store: RunStore; value: string; onChange: (value: string) => void }) {
  const { store, value, onChange } = props;
  void store.timeline.version.value;
  const lanes = store.timeline.lanes.tracks.flatMap(({ lane, info }) => (info ? [{ lane, role: info.role }] : []));
  const roles = [...new Set(lanes.map(({ role }) => role))];
  const known = new Set(["", "driver", "web", ...roles, ...lanes.map(({ lane }) => lane)]);
  return (
    <select aria-label="Source" value={value} onChange={(event) => onChange(event.currentTarget.value)}>
      <option value="">All sources</option>
      <option value="driver">Driver</option>
      <option value="web">Users and the web</option>
      {roles.map((role) => (
        <option key={role} value={role}>
          All {role} lanes
        </option>
      ))}
      {/* A link may name a lane that has left the run. */}
      {!known.has(value) && <option value={value}>{value}</option>}
      <optgroup label="Lanes">
        {lanes.map(({ lane }) => (
          <option key={lane} value={lane}>
            {lane}
          </option>
        ))}
      </optgroup>
    </select>
  );
}
