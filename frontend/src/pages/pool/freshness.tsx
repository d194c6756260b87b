/** How fresh the pool's values on a page are: whether the connection holds, and whether the node agent reports. */

import type { PoolNode } from "../../api/schema.ts";
import { seconds } from "../../base/clock.ts";
import type { PoolStore } from "../../live/pool_store.ts";
import { LiveBadge } from "../../ui/live_badge.tsx";
import { ageText } from "./pool_words.ts";

/** An agent posts every 3 s. */
const AGENT_SILENT_SECONDS = 15;

export function Freshness({ store }: { store: PoolStore }) {
  return (
    <LiveBadge
      connection={store.connection.value}
      heardAt={store.heardAt.value}
      stale={agentSilence(store.reportedAt.value, store.nodes.value)}
    />
  );
}

/** What is amiss with the node agent's reports; null while they come, and for CPU lanes of one machine, which need none. */
function agentSilence(reportedAt: number | null, nodes: readonly PoolNode[]): string | null {
  if (reportedAt === null) {
    const needsAgent = nodes.length === 0 || nodes.some(({ gpus }) => gpus.length > 0);
    return needsAgent ? "no node agent has reported yet" : null;
  }
  const silent = seconds.value - reportedAt;
  return silent > AGENT_SILENT_SECONDS ? `the node agent is silent: last report ${ageText(silent)}` : null;
}
