/** What the lanes of a role did at the instant under the pointer. */

import { clock, number, percent, words } from "../base/format.ts";
import { classOf } from "./classes.ts";
import { besidePointer } from "./tooltip.tsx";
import type { FleetPoint } from "./under_pointer.ts";

export function FleetTooltip({ point, width }: { point: FleetPoint; width: number }) {
  const { row, at, lanes, x, y } = point;
  return (
    <div class="span-tooltip" role="tooltip" style={besidePointer(x, y, width)}>
      <div class="row">
        <strong>{words(row.role || "other")}</strong>
        <span class="num muted">
          {row.numLanes} lanes, {clock(at)}
        </span>
      </div>
      <dl class="kv">
        {lanes.map(([kind, count]) => {
          const { label, colour } = classOf(kind);
          return [
            <dt key={kind}>
              <i class={`swatch ${kind === "idle" ? "idle" : ""}`} style={{ "--swatch": `var(${colour})` }} /> {label}
            </dt>,
            <dd key={`${kind}=`} class="num">
              {percent(count / row.numLanes)} · {number(count)}
            </dd>,
          ];
        })}
      </dl>
    </div>
  );
}
