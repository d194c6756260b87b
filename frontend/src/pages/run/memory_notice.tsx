/** Calls for which a lane's device had not enough memory: the last one of each lane, by attempt. */

import type { OutOfMemoryFields } from "../../api/schema.ts";
import type { PanelItem } from "../../live/item_list.ts";

export function MemoryNotice({ events }: { events: readonly PanelItem[] }) {
  const shortages = lastShortages(events);
  if (shortages.length === 0) return null;
  return (
    <div class="notice warn small" role="status">
      {/* One below the other: a notice lays its children out side by side. */}
      <div>
        {shortages.map(({ lane, sentence }) => (
          <p key={lane}>
            <b>{lane}</b> {sentence} <a href="#logs">Log</a>
          </p>
        ))}
      </div>
    </div>
  );
}

/** The lanes of the newest attempt whose calls were made smaller, with the last reason. */
export function lastShortages(events: readonly PanelItem[]): OutOfMemoryFields[] {
  const found = new Map<string, OutOfMemoryFields>();
  let attempt = 0;
  for (const item of events) {
    if (item.attempt > attempt) found.clear();
    attempt = Math.max(attempt, item.attempt);
    if (item.type === "out_of_memory") found.set(item.body.lane, item.body);
  }
  return [...found.values()];
}
