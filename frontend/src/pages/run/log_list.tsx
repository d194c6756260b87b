/** The entries, newest first, as many as there are: only those on the screen are in the document. */

import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { LogEntry } from "../../api/schema.ts";
import type { LogStore } from "../../live/log_store.ts";
import { CopyButton } from "../../ui/controls.tsx";
import { useVirtualLines } from "../../ui/virtual_lines.ts";
import { partsOf } from "./log_view.ts";

/** Heights in pixels, as logs.css gives them to the lines. */
const [LINE, PHONE_LINE] = [26, 44];
const PHONE = "(max-width: 760px)";
/** What sticks to the window's top: the run's header and the filters. */
const COVERED = 96;
/** Entries from the end at which older ones are read. */
const NEAR_THE_END = 40;

interface Props {
  readonly log: LogStore;
  readonly search: string;
  /** The entry that was looked up. */
  readonly marked: number | undefined;
  readonly timeText: (at: number) => string;
  readonly onSource: (source: string) => void;
  readonly onAround: (streamSeq: number) => void;
}

/** Heights of what is unfolded below entries, by their number. */
function useUnfolded(): [ReadonlyMap<number, number>, (streamSeq: number, height: number | null) => void] {
  const [heights, setHeights] = useState<ReadonlyMap<number, number>>(new Map());
  const set = useCallback((streamSeq: number, height: number | null) => {
    setHeights((known) => {
      const next = new Map(known);
      if (height === null) next.delete(streamSeq);
      else next.set(streamSeq, height);
      return next;
    });
  }, []);
  return [heights, set];
}

export function LogList({ log, search, marked, timeText, onSource, onAround }: Props) {
  const entries = log.entries.value;
  const body = useRef<HTMLOListElement>(null);
  const [heights, setHeight] = useUnfolded();
  const line = matchMedia(PHONE).matches ? PHONE_LINE : LINE;
  const heightOf = useCallback(
    (index: number) => line + (heights.get(entries[index]?.stream_seq ?? -1) ?? 0),
    [entries, heights, line],
  );
  const shown = useVirtualLines(body, entries.length, heightOf, COVERED);
  const last = shown.indices.at(-1) ?? 0;
  useEffect(() => {
    if (last >= entries.length - NEAR_THE_END) void log.readOlder();
  }, [log, last, entries]);
  useFollowing(log, body);
  useEffect(() => {
    const index = entries.findIndex((entry) => entry.stream_seq === marked);
    if (index >= 0) shown.scrollTo(index);
  }, [marked, entries.length > 0]);
  return (
    <ol ref={body} class="log" aria-label="Entries">
      <li class="log-space" style={{ height: `${shown.above}px` }} aria-hidden="true" />
      {shown.indices.map((index) => {
        const entry = entries[index];
        return (
          entry && (
            <Entry
              key={entry.stream_seq}
              entry={entry}
              search={search}
              time={timeText(entry.at)}
              isMarked={entry.stream_seq === marked}
              isOpen={heights.has(entry.stream_seq)}
              onHeight={setHeight}
              onSource={onSource}
              onAround={onAround}
            />
          )
        );
      })}
      <li class="log-space" style={{ height: `${shown.below}px` }} aria-hidden="true" />
    </ol>
  );
}

/** The log follows its newest entry while that is on the screen. */
function useFollowing(log: LogStore, body: { readonly current: HTMLElement | null }): void {
  useEffect(() => {
    const look = () => {
      const top = body.current?.getBoundingClientRect().top ?? 0;
      const isAtNewest = top >= 0;
      log.follow(isAtNewest);
      if (isAtNewest && log.hasNewest.peek() && log.numWaiting.peek() > 0) void log.showNewest();
    };
    look();
    addEventListener("scroll", look, { passive: true });
    return () => removeEventListener("scroll", look);
  }, [log]);
}

interface EntryProps extends Pick<Props, "search" | "onSource" | "onAround"> {
  readonly entry: LogEntry;
  readonly time: string;
  readonly isMarked: boolean;
  readonly isOpen: boolean;
  readonly onHeight: (streamSeq: number, height: number | null) => void;
}

function Entry({ entry, search, time, isMarked, isOpen, onHeight, onSource, onAround }: EntryProps) {
  const { stream_seq, level, source, text, type } = entry;
  const firstLine = text.split("\n", 1)[0] ?? "";
  return (
    <li class={`log-entry ${level} ${type === "log" ? "" : "event"} ${isMarked ? "marked" : ""}`} data-seq={stream_seq}>
      <div class="log-line">
        <time class="num">{time}</time>
        <button type="button" class="log-source" title={`Only ${source}`} onClick={() => onSource(source)}>
          {source}
        </button>
        <button
          type="button"
          class="log-text"
          aria-expanded={isOpen}
          onClick={() => onHeight(stream_seq, isOpen ? null : 0)}
        >
          {level !== "info" && level !== "debug" && <span class="log-level">{level}</span>}
          <Marked text={firstLine} search={search} />
          {firstLine.length < text.length && <span class="faint"> …</span>}
        </button>
      </div>
      {isOpen && <Whole entry={entry} search={search} onHeight={onHeight} onAround={onAround} />}
    </li>
  );
}

/** The whole text of an entry, and what can be done with it. */
function Whole({ entry, search, onHeight, onAround }: Pick<EntryProps, "entry" | "search" | "onHeight" | "onAround">) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (box.current) onHeight(entry.stream_seq, box.current.offsetHeight);
  }, [entry]);
  return (
    <div ref={box} class="log-whole">
      {/* A long text scrolls, by keys too. */}
      <pre tabIndex={0}>
        <Marked text={entry.text} search={search} />
      </pre>
      <div class="row tiny muted">
        <span>
          {entry.type.replaceAll("_", " ")}, {entry.level}, attempt {entry.attempt},{" "}
          <span class="num">{new Date(entry.at * 1000).toISOString().replace("T", " ")}</span>
        </span>
        <button type="button" class="button small" onClick={() => onAround(entry.stream_seq)}>
          Around this entry
        </button>
        <CopyButton text={entry.text} />
      </div>
    </div>
  );
}

function Marked({ text, search }: { text: string; search: string }) {
  return <>{partsOf(text, search).map((part, index) => (index % 2 === 1 ? <mark key={index}>{part}</mark> : part))}</>;
}
