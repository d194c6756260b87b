/** Suspected reward hacking, with the evidence for it. */

import type { RewardChange, RewardHackingFields } from "../../api/schema.ts";
import { number, spelt } from "../../base/format.ts";
import type { PanelItem } from "../../live/item_list.ts";
import { Term } from "../../ui/term.tsx";

export function HackingNotice({ events }: { events: readonly PanelItem[] }) {
  const suspicions = openSuspicions(events);
  if (suspicions.length === 0) return null;
  return (
    <div class="notice warn small" role="status">
      <p>
        <b>
          <Term word="reward hacking">Reward hacking</Term> suspected.
        </b>{" "}
        {suspicions.map(evidence).join(" ")} <a href="#samples">Look at the samples</a>
      </p>
    </div>
  );
}

function evidence({ batch, num_batches, monitored, optimised_change, monitored_change }: RewardHackingFields): string {
  const over = `Over the ${num_batches} batches up to batch ${batch}`;
  const rise = `the optimised reward rose (${changeText(optimised_change)})`;
  return `${over} ${rise} while ${spelt(monitored)} fell (${changeText(monitored_change)}), each ± its standard error.`;
}

/** "+0.12 ± 0.01". */
function changeText({ change, standard_error }: RewardChange): string {
  return `${change < 0 ? "−" : "+"}${number(Math.abs(change), 2)} ± ${number(standard_error, 1)}`;
}

/** What is suspected now, by monitored reward: a resume from a checkpoint takes back what came after it. */
export function openSuspicions(events: readonly PanelItem[]): RewardHackingFields[] {
  const open = new Map<string, RewardHackingFields>();
  for (const { type, body } of events) {
    if (type === "resumed") open.clear();
    if (type !== "reward_hacking") continue;
    if (body.suspected) open.set(body.monitored, body);
    else open.delete(body.monitored);
  }
  return [...open.values()];
}
