/** Lanes that make no progress: which, with what, since when, and what comes of it. */

import type { LaneStallFields } from "../../api/schema.ts";
import { seconds } from "../../base/clock.ts";
import { clock, duration } from "../../base/format.ts";
import type { PanelItem } from "../../live/item_list.ts";

export function StallNotice({ events }: { events: readonly PanelItem[] }) {
  const stalls = openStalls(events);
  if (stalls.length === 0) return null;
  return (
    <div class="notice warn small" role="status">
      {stalls.map((stall) => (
        <p key={stall.lane}>
          <b>{stall.lane} does not go on.</b> {sentence(stall, seconds.value)} <a href="#logs">Log</a>
          {stall.stack.length > 0 && (
            <details>
              <summary>Where it is</summary>
              <ol class="mono">
                {stall.stack.map((call) => (
                  <li key={call}>{call}</li>
                ))}
              </ol>
            </details>
          )}
        </p>
      ))}
    </div>
  );
}

export function sentence({ work, state, since, limit_seconds, longest_seconds }: LaneStallFields, now: number): string {
  const still = `It was called to ${work} and has made no progress since ${clock(since)}`;
  if (state === "hung") return `${still}: its process was ended.`;
  const usual = longest_seconds === null ? "" : `; its like took at most ${duration(longest_seconds)}`;
  const ago = `${still}, ${duration(Math.max(0, Math.floor(now - since)))} ago${usual}`;
  return state === "silent"
    ? `${ago}. Its process does not answer either, and is ended soon if that lasts.`
    : `${ago}. Its process answers; it is ended after ${duration(limit_seconds)} without progress.`;
}

/** What stalls now, by lane. A lane that starts anew stalls no more, nor does one of an attempt before this one. */
export function openStalls(events: readonly PanelItem[]): LaneStallFields[] {
  const open = new Map<string, LaneStallFields>();
  let attempt = 0;
  for (const item of events) {
    if (item.attempt > attempt) {
      open.clear();
      attempt = item.attempt;
    }
    if (item.type === "lane_start") for (const lane of item.body.lanes) open.delete(lane);
    if (item.type !== "lane_stall") continue;
    if (item.body.state === "working") open.delete(item.body.lane);
    else open.set(item.body.lane, item.body);
  }
  return [...open.values()];
}
