/** Which lines of a long list are on the screen: only these are in the document. */

import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  observeWindowOffset,
  observeWindowRect,
  Virtualizer,
  type VirtualizerOptions,
  windowScroll,
} from "@tanstack/virtual-core";
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useMemo, useState } from "preact/hooks";

/** Lines beyond either edge, so that a turn of the wheel shows no gap. */
const OVERSCAN = 8;
/** Pixels from the end within which a list counts as scrolled to it: zoomed pages have fractions of pixels. */
const AT_THE_END = 4;

export interface VirtualLines {
  readonly indices: readonly number[];
  /** Height of all lines above those shown, and below. */
  readonly above: number;
  readonly below: number;
  readonly scrollTo: (index: number) => void;
}

export interface VirtualTail extends VirtualLines {
  /** Whether the last line is in view, as the document stands. */
  readonly isAtEnd: () => boolean;
  readonly scrollToEnd: () => void;
}

type Options<Scroller extends Element | Window> = VirtualizerOptions<Scroller, HTMLElement>;

function useVirtualizer<Scroller extends Element | Window>(options: Options<Scroller>) {
  const [, setChange] = useState(0);
  const whole = { ...options, overscan: OVERSCAN, onChange: () => setChange((count) => count + 1) };
  const virtualizer = useMemo(() => new Virtualizer<Scroller, HTMLElement>(whole), []);
  virtualizer.setOptions(whole);
  useEffect(() => virtualizer._didMount(), [virtualizer]);
  useLayoutEffect(() => virtualizer._willUpdate());
  useEffect(() => virtualizer.measure(), [virtualizer, options.estimateSize]);
  return virtualizer;
}

function linesOf<Scroller extends Element | Window>(
  virtualizer: Virtualizer<Scroller, HTMLElement>,
  margin: number,
): Omit<VirtualLines, "scrollTo"> {
  const shown = virtualizer.getVirtualItems();
  return {
    indices: shown.map(({ index }) => index),
    above: (shown[0]?.start ?? margin) - margin,
    below: virtualizer.getTotalSize() - ((shown.at(-1)?.end ?? margin) - margin),
  };
}

/** Lines of a page that scrolls as a whole. `body` holds the lines, `heightOf` a line's height in pixels. `covered`:
 * pixels at the window's top that a sticky heading covers. */
export function useVirtualLines(
  body: RefObject<HTMLElement | null>,
  number: number,
  heightOf: (index: number) => number,
  covered: number,
): VirtualLines {
  const [margin, setMargin] = useState(0);
  const virtualizer = useVirtualizer<Window>({
    count: number,
    estimateSize: heightOf,
    getScrollElement: () => window,
    observeElementRect: observeWindowRect,
    observeElementOffset: observeWindowOffset,
    scrollToFn: windowScroll,
    scrollMargin: margin,
    scrollPaddingStart: covered,
    initialRect: { width: window.innerWidth, height: window.innerHeight },
  });
  useLayoutEffect(() => {
    const { current } = body;
    if (current) setMargin(Math.round(current.getBoundingClientRect().top + window.scrollY));
  });
  return {
    ...linesOf(virtualizer, margin),
    scrollTo: (index) => virtualizer.scrollToIndex(index, { align: "auto" }),
  };
}

interface TailOptions {
  readonly number: number;
  readonly heightOf: (index: number) => number;
  /** Knows a line again, wherever it is. */
  readonly keyOf: (index: number) => number;
  /** Pixels above the first line. */
  readonly topSpace: number;
}

/** Lines that grow at either end, in a scroller of their own: those in view stay where they are, whatever comes or goes
 * above and below them. */
export function useVirtualTail(scroller: RefObject<HTMLElement | null>, tail: TailOptions): VirtualTail {
  const virtualizer = useVirtualizer<HTMLElement>({
    count: tail.number,
    estimateSize: tail.heightOf,
    getItemKey: tail.keyOf,
    getScrollElement: () => scroller.current,
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    paddingStart: tail.topSpace,
    anchorTo: "end",
    scrollEndThreshold: AT_THE_END,
  });
  return {
    ...linesOf(virtualizer, 0),
    scrollTo: (index) => virtualizer.scrollToIndex(index, { align: "center" }),
    // Of the element: at a scroll event the virtualizer may not have heard of it yet.
    isAtEnd: () => scroller.current !== null && distanceFromEnd(scroller.current) <= AT_THE_END,
    scrollToEnd: () => virtualizer.scrollToEnd(),
  };
}

const distanceFromEnd = ({ scrollHeight, scrollTop, clientHeight }: HTMLElement) =>
  scrollHeight - scrollTop - clientHeight;
