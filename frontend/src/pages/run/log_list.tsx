/** The entries as a terminal shows them, the newest below: only those on the screen are in the document. */

import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { LogEntry } from "../../api/schema.ts";
import type { LogStore } from "../../live/log_store.ts";
import { CopyButton } from "../../ui/controls.tsx";
import { Icon } from "../../ui/icon.tsx";
import { useVirtualTail, type VirtualTail } from "../../ui/virtual_lines.ts";
import { useFollowing } from "./log_following.ts";
import { partsOf } from "./log_view.ts";

/** Heights in pixels, as logs.css gives them to the lines. */
const [LINE, PHONE_LINE] = [26, 44];
const PHONE = "(max-width: 760px)";
/** Entries from either end at which more are read. */
const NEAR_AN_END = 40;

interface Props {
  readonly log: LogStore;
  readonly search: string;
  /** The entry that was looked up. */
  readonly marked: number | undefined;
  readonly timeText: (at: number) => string;
  readonly onSource: (source: string) => void;
  readonly onAround: (streamSeq: number) => void;
  readonly onNewest: () => void;
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

export function LogList({ log, search, marked, timeText, onSource, onAround, onNewest }: Props) {
  const entries = log.entries.value;
  const scroller = useRef<HTMLDivElement>(null);
  const [heights, setHeight] = useUnfolded();
  const line = matchMedia(PHONE).matches ? PHONE_LINE : LINE;
  const keyOf = useCallback((index: number) => entries[index]?.stream_seq ?? -1, [entries]);
  const heightOf = useCallback((index: number) => line + (heights.get(keyOf(index)) ?? 0), [keyOf, heights, line]);
  const shown = useVirtualTail(scroller, { number: entries.length, heightOf, keyOf, topSpace: line });
  useReading(log, shown);
  const { isFollowing, onScroll } = useFollowing({ log, scroller, lines: shown, heights, marked });
  const toNewest = () => {
    onNewest();
    void log.toNewest();
    shown.scrollToEnd();
  };
  return (
    <div class="log-panel">
      {/* It scrolls by keys too. Assistive technology reads it on request: entries come by the second. */}
      <div
        ref={scroller}
        class="log-scroll"
        role="log"
        aria-live="off"
        aria-label="Entries"
        tabIndex={0}
        onScroll={onScroll}
      >
        <ol class="log">
          <li class="log-space faint" style={{ height: `${shown.above}px` }}>
            {shown.indices[0] === 0 && (log.hasOlder.value ? "Reading earlier entries…" : "The log begins here.")}
          </li>
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
                  height={heights.get(entry.stream_seq)}
                  onHeight={setHeight}
                  onSource={onSource}
                  onAround={onAround}
                />
              )
            );
          })}
          <li class="log-space" style={{ height: `${shown.below}px` }} aria-hidden="true" />
        </ol>
      </div>
      {!isFollowing && <ToNewest log={log} onClick={toNewest} />}
    </div>
  );
}

/** Reads on where the reader comes near an end. */
function useReading(log: LogStore, shown: VirtualTail): void {
  const entries = log.entries.value;
  const [first, last] = [shown.indices[0] ?? 0, shown.indices.at(-1) ?? 0];
  useEffect(() => {
    if (first < NEAR_AN_END) void log.readOlder();
    if (last >= entries.length - NEAR_AN_END) void log.readNewer();
  }, [log, first, last, entries]);
}

/** The way back to the newest entries, and how many have come meanwhile. */
function ToNewest({ log, onClick }: { log: LogStore; onClick: () => void }) {
  const numNew = log.numNew.value;
  const number = `${numNew.toLocaleString("en-GB")}${log.hasNewest.value ? "" : "+"}`;
  return (
    <button type="button" class="button small log-newest" onClick={onClick}>
      <Icon name="descending" />
      {numNew > 0 ? `${number} new` : "To the newest"}
    </button>
  );
}

interface EntryProps extends Pick<Props, "search" | "onSource" | "onAround"> {
  readonly entry: LogEntry;
  readonly time: string;
  readonly isMarked: boolean;
  /** Of what is unfolded below it; 0 until that is drawn, undefined while nothing is. */
  readonly height: number | undefined;
  readonly onHeight: (streamSeq: number, height: number | null) => void;
}

function Entry({ entry, search, time, isMarked, height, onHeight, onSource, onAround }: EntryProps) {
  const isOpen = height !== undefined;
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
      {isOpen && <Whole {...{ entry, search, height, onHeight, onAround }} />}
    </li>
  );
}

/** The whole text of an entry, and what can be done with it. */
function Whole(props: Pick<EntryProps, "entry" | "search" | "height" | "onHeight" | "onAround">) {
  const { entry, search, onHeight, onAround } = props;
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (box.current) onHeight(entry.stream_seq, box.current.offsetHeight);
  }, [entry]);
  // Below the last line in view it would open unseen; one that is scrolled to again stays where it is.
  const wasOpened = useRef(props.height === 0);
  useEffect(() => {
    if (wasOpened.current) box.current?.scrollIntoView({ block: "nearest" });
  }, []);
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
