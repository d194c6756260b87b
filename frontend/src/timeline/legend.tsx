/** The colours of span classes, those that occur. */

import { SPAN_CLASSES } from "./classes.ts";
import type { TimelineState } from "./timeline_state.ts";

export function TimelineLegend({ state }: { state: TimelineState }) {
  // What was read is no signal.
  void state.version.value;
  const { kinds } = state;
  return (
    <ul class="span-legend" aria-label="Colours of lane time">
      {SPAN_CLASSES.filter((known) => kinds.has(known.kind)).map((known) => (
        <li key={known.kind}>
          <i class={`swatch ${known.kind === "idle" ? "idle" : ""}`} style={{ "--swatch": `var(${known.colour})` }} />
          {known.label}
        </li>
      ))}
    </ul>
  );
}
