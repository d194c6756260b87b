/** Whether an element is on screen, or nearly: what is not need not be read or drawn. */

import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";

/** So far beyond the screen's edges a panel is made ready, in CSS pixels: a flick of the wheel. */
const MARGIN_PIXELS = 300;

/** The element's width in CSS pixels while it is in view, else 0. */
export function useWidthInView(box: RefObject<Element | null>): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const observer = new IntersectionObserver(
      (entries) => {
        const newest = entries.at(-1);
        if (newest) setWidth(newest.isIntersecting ? newest.boundingClientRect.width : 0);
      },
      { rootMargin: `${MARGIN_PIXELS}px` },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return width;
}
