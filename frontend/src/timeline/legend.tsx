/** The colours of span classes, those that occur. */

import type { TimelineStore } from "../live/timeline_store.ts";
import { IDLE_CLASS, WORK_CLASSES } from "./classes.ts";

export function TimelineLegend({ store }: { store: TimelineStore }) {
  return (
    <ul class="span-legend" aria-label="Colours of lane time">
      {[...WORK_CLASSES, IDLE_CLASS]
        .filter((known) => store.kinds.has(known.kind))
        .map((known) => (
          <li key={known.kind}>
            <i class={`swatch ${known.kind === "idle" ? "idle" : ""}`} style={{ "--swatch": `var(${known.colour})` }} />
            {known.label}
          </li>
        ))}
    </ul>
  );
}
