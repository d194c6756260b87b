/** The waterfall of lane time, of all lanes or of one role's: a row for each class, whose bar begins where the one above
 * ended. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Bubbles } from "../api/schema.ts";
import { duration, percent, words } from "../base/format.ts";
import { Segmented } from "../ui/controls.tsx";
import { Term } from "../ui/term.tsx";
import { classLabel, parseClass } from "./classes.ts";
import { PAUSE, roles } from "./shares.ts";
import { type Fall, waterfallOf } from "./waterfall.ts";

const ALL = "";

export function WaterfallTable({ bubbles }: { bubbles: Bubbles }) {
  const [role, setRole] = useState(ALL);
  const byRole = roles(bubbles);
  const classes = byRole.find(([name]) => role !== ALL && name === role)?.[1] ?? bubbles.by_class;
  const { paused, total, lost, remaining, worked } = waterfallOf(classes);
  const shares = [...lost, ...worked].reduce((sum, { before, after }) => sum + before - after, 0);
  return (
    <div>
      {byRole.length > 1 && (
        <Segmented
          label="Whose lane time"
          value={role}
          onChange={setRole}
          choices={[
            { value: ALL, label: "All lanes" },
            ...byRole.map(([name]) => ({ value: name, label: words(name || "other") })),
          ]}
        />
      )}
      <div class="table-wrap">
        <table class="waterfall">
          <thead>
            <tr>
              <th>Class</th>
              <th class="waterfall-axis">
                <span class="num">0 %</span>
                <span class="num">100 %</span>
              </th>
              <th class="right">Share</th>
              <th class="right">Lane time</th>
            </tr>
          </thead>
          <tbody>
            {paused > 0 && <Paused seconds={paused} />}
            <Sum label={paused > 0 ? "All other lane time" : "All lane time"} share={1} seconds={total} />
            {lost.map((fall) => (
              <Part key={fall.name} fall={fall} />
            ))}
            {worked.length > 0 && (
              <Sum label={<Term word="busy share">Busy</Term>} share={remaining} seconds={remaining * total} />
            )}
            {worked.map((fall) => (
              <Part key={fall.name} fall={fall} />
            ))}
          </tbody>
          <tfoot>
            <tr>
              <td colSpan={2}>Together</td>
              <td class="right num">{percent(shares, 1)}</td>
              <td class="right num">{duration(total)}</td>
            </tr>
          </tfoot>
        </table>
      </div>
    </div>
  );
}

/** What there is to take from. */
function Sum({ label, share, seconds }: { label: ComponentChildren; share: number; seconds: number }) {
  return (
    <tr class="waterfall-sum">
      <td>{label}</td>
      <td class="waterfall-bar">
        <i style={{ left: 0, width: `${share * 100}%` }} />
      </td>
      <td class="right num">{percent(share, 1)}</td>
      <td class="right num">{duration(seconds)}</td>
    </tr>
  );
}

/** Pauses are no part of the whole that shares are of. */
function Paused({ seconds }: { seconds: number }) {
  return (
    <tr>
      <td>{classLabel(PAUSE)}</td>
      <td class="tiny faint">left out of all shares</td>
      <td class="right num muted">–</td>
      <td class="right num muted">{duration(seconds)}</td>
    </tr>
  );
}

function Part({ fall: { name, seconds, before, after } }: { fall: Fall }) {
  const { known } = parseClass(name);
  const place = { left: `${after * 100}%`, width: `${(before - after) * 100}%` };
  return (
    <tr>
      <td>{classLabel(name)}</td>
      <td class="waterfall-bar">
        <i class={known.kind === "idle" ? "idle" : ""} style={{ "--swatch": `var(${known.colour})`, ...place }} />
      </td>
      <td class="right num">{percent(before - after, 1)}</td>
      <td class="right num muted">{duration(seconds)}</td>
    </tr>
  );
}
