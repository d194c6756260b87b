/** Which lines of a long list are on the screen: the page scrolls, and only these are in the document. */

import { observeWindowOffset, observeWindowRect, Virtualizer, windowScroll } from "@tanstack/virtual-core";
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useMemo, useState } from "preact/hooks";

/** Lines beyond either edge, so that a turn of the wheel shows no gap. */
const OVERSCAN = 8;

export interface VirtualLines {
  readonly indices: readonly number[];
  /** Height of all lines above those shown, and below. */
  readonly above: number;
  readonly below: number;
  readonly scrollTo: (index: number) => void;
}

/** `body` holds the lines, `heightOf` a line's height in pixels. `covered`: pixels at the
 * window's top that a sticky heading covers. */
export function useVirtualLines(
  body: RefObject<HTMLElement | null>,
  number: number,
  heightOf: (index: number) => number,
  covered: number,
): VirtualLines {
  const [, setChange] = useState(0);
  const [margin, setMargin] = useState(0);
  const options = {
    count: number,
    estimateSize: heightOf,
    getScrollElement: () => window,
    observeElementRect: observeWindowRect,
    observeElementOffset: observeWindowOffset,
    scrollToFn: windowScroll,
    overscan: OVERSCAN,
    scrollMargin: margin,
    scrollPaddingStart: covered,
    initialRect: { width: window.innerWidth, height: window.innerHeight },
    onChange: () => setChange((count) => count + 1),
  };
  const virtualizer = useMemo(() => new Virtualizer<Window, HTMLElement>(options), []);
  virtualizer.setOptions(options);
  useEffect(() => virtualizer._didMount(), [virtualizer]);
  useLayoutEffect(() => {
    virtualizer._willUpdate();
    const { current } = body;
    if (current) setMargin(Math.round(current.getBoundingClientRect().top + window.scrollY));
  });
  useEffect(() => virtualizer.measure(), [virtualizer, heightOf]);
  const shown = virtualizer.getVirtualItems();
  return {
    indices: shown.map(({ index }) => index),
    above: (shown[0]?.start ?? margin) - margin,
    below: virtualizer.getTotalSize() - ((shown.at(-1)?.end ?? margin) - margin),
    scrollTo: (index) => virtualizer.scrollToIndex(index, { align: "auto" }),
  };
}
