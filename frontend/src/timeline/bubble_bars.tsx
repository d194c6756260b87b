/** Where lane time went: the largest loss in a sentence, the waterfall of all classes, and a bar for each lane. */

import type { Bubbles } from "../api/schema.ts";
import { duration, percent } from "../base/format.ts";
import { GLOSSARY } from "../base/glossary.ts";
import { Empty } from "../ui/states.tsx";
import { Term } from "../ui/term.tsx";
import { causeLabel, classLabel, parseClass } from "./classes.ts";
import { busyShare, largestLoss, ordered, type Seconds, total } from "./shares.ts";
import { WaterfallTable } from "./waterfall_table.tsx";

/** With more lanes than this their own bars are folded away: a summary of all of them says more. */
export const MANY_LANES = 12;

interface Props {
  readonly bubbles: Bubbles;
  /** Lane names as the timeline shows them from top to bottom. */
  readonly order: readonly string[];
}

export function BubbleBars({ bubbles, order }: Props) {
  const lanes = Object.entries(bubbles.by_lane).sort(([a], [b]) => order.indexOf(a) - order.indexOf(b));
  if (lanes.length === 0) return <Empty title="No lane time yet">Shares appear with the first spans.</Empty>;
  return (
    <div class="bubbles">
      <LargestLoss bubbles={bubbles} />
      <WaterfallTable bubbles={bubbles} />
      <details open={lanes.length <= MANY_LANES}>
        <summary class="small muted">{lanes.length === 1 ? "One lane" : `${lanes.length} lanes, one by one`}</summary>
        <div class="bubbles">
          {lanes.map(([lane, classes]) => (
            <Bar key={lane} label={lane} classes={classes} />
          ))}
        </div>
      </details>
    </div>
  );
}

function LargestLoss({ bubbles }: { bubbles: Bubbles }) {
  const loss = largestLoss(bubbles);
  if (!loss || loss.share < 0.01) return null;
  const cause = parseClass(loss.name).cause ?? "";
  return (
    <p class="small">
      The largest <Term word="bubble">bubbles</Term> between the first work and the last: <b>{loss.role} lanes</b> idle
      for <b>{causeLabel(cause)}</b>, {percent(loss.share, 1)} of their time.
    </p>
  );
}

function Bar({ label, classes }: { label: string; classes: Seconds }) {
  const parts = ordered(classes);
  const all = total(classes);
  return (
    <div class="bubble-row">
      <span class="truncate small">{label}</span>
      <div
        class="bubble-bar"
        role="img"
        aria-label={`${label}: ${parts.map(([name, s]) => `${classLabel(name)} ${percent(s / all, 1)}`).join(", ")}`}
      >
        {parts.map(([name, seconds]) => {
          const { known } = parseClass(name);
          return (
            <i
              key={name}
              class={known.kind === "idle" ? "idle" : ""}
              title={`${classLabel(name)}: ${duration(seconds)}, ${percent(seconds / all, 1)}`}
              style={{ "--swatch": `var(${known.colour})`, flexGrow: seconds }}
            />
          );
        })}
      </div>
      <span class="num small right" title={GLOSSARY["busy share"]}>
        {percent(busyShare(classes))} busy
      </span>
    </div>
  );
}
