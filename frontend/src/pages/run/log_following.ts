/** Whether a log stays at its newest end as it grows.
 *
 * Only the reader ends that, by a scroll upwards or by unfolding an entry that pushes the end out of view. That the end
 * is out of view says nothing: entries may come faster than the list is drawn at the end of those before them. */

import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { LogStore } from "../../live/log_store.ts";
import type { VirtualTail } from "../../ui/virtual_lines.ts";

interface Shown {
  readonly log: LogStore;
  readonly scroller: RefObject<HTMLElement | null>;
  readonly lines: VirtualTail;
  /** Heights of what is unfolded: another object where they are others. */
  readonly heights: ReadonlyMap<number, number>;
  /** The entry that was looked up. */
  readonly marked: number | undefined;
}

/** Scrolls to where a reading of the log begins, and on as it grows; `onScroll` is told of each scroll. */
export function useFollowing({ log, scroller, lines, heights, marked }: Shown) {
  const entries = log.entries.value;
  const [isFollowing, setFollowing] = useState(true);
  const follow = (isNow: boolean) => {
    log.follow(isNow);
    setFollowing(isNow);
  };
  const isAtNewest = () => log.hasNewest.peek() && lines.isAtEnd();
  useLayoutEffect(() => {
    if (isFollowing) lines.scrollToEnd();
    else if (isAtNewest()) follow(true);
  }, [entries]);
  useLayoutEffect(() => {
    if (!lines.isAtEnd()) follow(false);
  }, [heights]);
  useLayoutEffect(() => {
    const index = entries.findIndex((entry) => entry.stream_seq === marked);
    if (index >= 0) lines.scrollTo(index);
    else lines.scrollToEnd();
    follow(index >= 0 ? isAtNewest() : log.hasNewest.peek());
  }, [log.version.value, marked]);
  // Where the list stood when it was drawn or scrolled last: a place above it is the reader's doing.
  const lastTop = useRef(0);
  useLayoutEffect(() => {
    lastTop.current = scroller.current?.scrollTop ?? 0;
  });
  const onScroll = () => {
    const top = scroller.current?.scrollTop ?? 0;
    if (isAtNewest()) follow(true);
    else if (top < lastTop.current) follow(false);
    lastTop.current = top;
  };
  return { isFollowing, onScroll };
}
