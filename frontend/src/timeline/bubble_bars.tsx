/** Lane time by class: a bar for each lane and role, and a table of classes by role. Each bar and column is 100 %. */

import type { Bubbles } from "../api/schema.ts";
import { duration, percent, words } from "../base/format.ts";
import { Empty } from "../ui/states.tsx";
import { Term } from "../ui/term.tsx";
import { causeLabel, classLabel, parseClass } from "./classes.ts";
import { busyShare, largestLoss, ordered, roles, type Seconds, total } from "./shares.ts";

/** With more lanes than this their own bars are folded away: those of the roles summarise them. */
const MANY_LANES = 12;

interface Props {
  readonly bubbles: Bubbles;
  /** Lane names as the timeline shows them from top to bottom. */
  readonly order: readonly string[];
  /** Whether the table of classes by role is shown too. */
  readonly inFull: boolean;
}

export function BubbleBars({ bubbles, order, inFull }: Props) {
  const lanes = Object.entries(bubbles.by_lane).sort(([a], [b]) => order.indexOf(a) - order.indexOf(b));
  if (lanes.length === 0) return <Empty title="No lane time yet">Shares appear with the first spans.</Empty>;
  const byRole = roles(bubbles);
  const bars = lanes.map(([lane, classes]) => <Bar key={lane} label={lane} classes={classes} />);
  return (
    <div class="bubbles">
      <LargestLoss bubbles={bubbles} />
      {lanes.length <= MANY_LANES ? (
        bars
      ) : (
        <details>
          <summary class="small muted">{lanes.length} lanes, one by one</summary>
          <div class="bubbles">{bars}</div>
        </details>
      )}
      {lanes.length > byRole.length &&
        byRole.map(([role, classes]) => (
          <Bar key={`role ${role}`} label={`${words(role || "other")} lanes`} classes={classes} strong />
        ))}
      {lanes.length > 1 && <Bar label="All lanes" classes={bubbles.by_class} strong />}
      {inFull && <ClassTable bubbles={bubbles} />}
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

function Bar({ label, classes, strong }: { label: string; classes: Seconds; strong?: boolean }) {
  const parts = ordered(classes);
  const all = total(classes);
  return (
    <div class="bubble-row">
      <span class={`truncate small ${strong ? "strong" : ""}`}>{label}</span>
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
      <span class="num small right" title="Share of the time that was not paused spent on any work">
        {percent(busyShare(classes))} busy
      </span>
    </div>
  );
}

function ClassTable({ bubbles }: { bubbles: Bubbles }) {
  const byRole = roles(bubbles);
  const share = (classes: Seconds, name: string) => {
    const seconds = classes[name] ?? 0;
    return seconds > 0 ? percent(seconds / total(classes), 1) : "";
  };
  return (
    <div class="table-wrap">
      <table class="class-table">
        <thead>
          <tr>
            <th>Class</th>
            {byRole.length > 1 &&
              byRole.map(([role]) => (
                <th key={role} class="right">
                  {words(role || "other")}
                </th>
              ))}
            <th class="right">All lanes</th>
            <th class="right">Lane time</th>
          </tr>
        </thead>
        <tbody>
          {ordered(bubbles.by_class).map(([name, seconds]) => (
            <tr key={name}>
              <td>
                <ClassName name={name} />
              </td>
              {byRole.length > 1 &&
                byRole.map(([role, classes]) => (
                  <td key={role} class="right num muted">
                    {share(classes, name)}
                  </td>
                ))}
              <td class="right num">
                <b>{share(bubbles.by_class, name)}</b>
              </td>
              <td class="right num muted">{duration(seconds)}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <td>Together</td>
            {byRole.length > 1 &&
              byRole.map(([role, classes]) => (
                <td key={role} class="right num">
                  {wholeShare(classes)}
                </td>
              ))}
            <td class="right num">
              <b>{wholeShare(bubbles.by_class)}</b>
            </td>
            <td class="right num">{duration(bubbles.total_seconds)}</td>
          </tr>
        </tfoot>
      </table>
    </div>
  );
}

/** Added up from the rows, so that a class missing from them would show. */
function wholeShare(classes: Seconds): string {
  const all = total(classes);
  return percent(
    ordered(classes).reduce((sum, [, seconds]) => sum + seconds / all, 0),
    1,
  );
}

function ClassName({ name }: { name: string }) {
  const { known } = parseClass(name);
  return (
    <span class="row class-name">
      <i class={`swatch ${known.kind === "idle" ? "idle" : ""}`} style={{ "--swatch": `var(${known.colour})` }} />
      <span>{classLabel(name)}</span>
    </span>
  );
}
