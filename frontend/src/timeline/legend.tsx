/** The colours of span classes, those that occur; and the share each lane spent on each, summing to 100 %. */

import type { BubblesAnswer } from "../api/types.ts";
import type { TimelineStore } from "../live/timeline_store.ts";
import { duration, percent } from "../base/format.ts";
import { Empty } from "../ui/states.tsx";
import { IDLE_CLASS, WORK_CLASSES, classLabel, parseClass } from "./classes.ts";

export function TimelineLegend({ store }: { store: TimelineStore }) {
  return (
    <ul class="span-legend" aria-label="Colours of lane time">
      {[...WORK_CLASSES, IDLE_CLASS].filter((known) => store.kinds.has(known.kind)).map((known) => (
        <li key={known.kind}>
          <i class={`swatch ${known.kind === "idle" ? "idle" : ""}`} style={{ "--swatch": `var(${known.colour})` }} />
          {known.label}
        </li>
      ))}
    </ul>
  );
}

const ORDER = WORK_CLASSES.map((known) => known.kind);

/** Work first in legend order, then idle causes, longest first. */
function ordered(classes: Record<string, number>): [string, number][] {
  const rank = (name: string) => {
    const index = ORDER.indexOf(parseClass(name).known.kind);
    return index < 0 ? ORDER.length : index;
  };
  return Object.entries(classes)
    .filter(([, seconds]) => seconds > 0)
    .sort(([a, first], [b, second]) => rank(a) - rank(b) || second - first);
}

/** `order`: lane names as the timeline shows them from top to bottom. */
export function BubbleBars({ bubbles, order }: { bubbles: BubblesAnswer; order: readonly string[] }) {
  const lanes = Object.entries(bubbles.by_lane).sort(([a], [b]) => order.indexOf(a) - order.indexOf(b));
  if (lanes.length === 0) return <Empty title="No lane time yet">Shares appear with the first spans.</Empty>;
  return (
    <div class="bubbles">
      {lanes.map(([lane, classes]) => (
        <Bar key={lane} label={lane} classes={classes} />
      ))}
      {lanes.length > 1 && <Bar label="All lanes" classes={bubbles.by_class} strong />}
      <ClassTable classes={bubbles.by_class} total={bubbles.total_seconds} />
    </div>
  );
}

function Bar({ label, classes, strong }: { label: string; classes: Record<string, number>; strong?: boolean }) {
  const parts = ordered(classes);
  const total = parts.reduce((sum, [, seconds]) => sum + seconds, 0);
  const busy = parts.filter(([name]) => parseClass(name).known.kind !== "idle").reduce((sum, [, s]) => sum + s, 0);
  return (
    <div class="bubble-row">
      <span class={`truncate small ${strong ? "strong" : ""}`}>{label}</span>
      <div class="bubble-bar" role="img"
        aria-label={`${label}: ${parts.map(([name, s]) => `${classLabel(name)} ${percent(s / total, 1)}`).join(", ")}`}>
        {parts.map(([name, seconds]) => {
          const { known } = parseClass(name);
          return (
            <i key={name} class={known.kind === "idle" ? "idle" : ""} title={`${classLabel(name)}: ${duration(seconds)}, ${percent(seconds / total, 1)}`}
              style={{ "--swatch": `var(${known.colour})`, flexGrow: seconds }} />
          );
        })}
      </div>
      <span class="num small right" title="Share of this lane's time that was not idle">{percent(busy / total)} busy</span>
    </div>
  );
}

function ClassTable({ classes, total }: { classes: Record<string, number>; total: number }) {
  return (
    <ul class="bubble-classes">
      {ordered(classes).map(([name, seconds]) => {
        const { known } = parseClass(name);
        return (
          <li key={name}>
            <i class={`swatch ${known.kind === "idle" ? "idle" : ""}`} style={{ "--swatch": `var(${known.colour})` }} />
            <span class="truncate">{classLabel(name)}</span>
            <span class="num muted">{duration(seconds)}</span>
            <b class="num">{percent(seconds / total, 1)}</b>
          </li>
        );
      })}
      <li class="total">
        <i class="swatch" style={{ "--swatch": "transparent" }} />
        <span>All lane time</span>
        <span class="num muted">{duration(total)}</span>
        <b class="num">{percent(ordered(classes).reduce((sum, [, s]) => sum + s, 0) / total, 1)}</b>
      </li>
    </ul>
  );
}
