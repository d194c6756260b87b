/** Lanes that are far slower than usual for their kind, as the run measured when it last asked how to go on. */

import type { SlowLanesFields } from "../../api/schema.ts";
import { number } from "../../base/format.ts";
import type { PanelItem } from "../../live/item_list.ts";

export function SlowLanesNotice({ events }: { events: readonly PanelItem[] }) {
  const found = slowLanes(events);
  if (found.lanes.length === 0) return null;
  return (
    <div class="notice warn small" role="status">
      {/* One below the other: a notice lays its children out side by side. */}
      <div>
        {found.lanes.map(([lane, factor]) => (
          <p key={lane}>
            <b>{lane} is slow.</b> It takes {number(factor)} × the usual time of its kind, as measured in{" "}
            {found.batch === 1 ? "one batch" : `${found.batch} batches`}. <a href="#timeline">Seconds by lane</a>
          </p>
        ))}
      </div>
    </div>
  );
}

/** The slow lanes as told last in the newest attempt, the slowest first, and in how many batches that was measured. */
export function slowLanes(events: readonly PanelItem[]): { batch: number; lanes: [string, number][] } {
  let told: SlowLanesFields | undefined;
  let attempt = 0;
  for (const item of events) {
    if (item.attempt > attempt) told = undefined;
    attempt = Math.max(attempt, item.attempt);
    if (item.type === "slow_lanes") told = item.body;
  }
  const lanes = Object.entries(told?.lanes ?? {}).sort(([, one], [, other]) => other - one);
  return { batch: told?.batch ?? 0, lanes };
}
