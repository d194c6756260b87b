/** Parts of the inspector: what is known of one lane, one node. */

import { api } from "../../api/endpoints.ts";
import type { PoolLane, PoolNode } from "../../api/schema.ts";
import { seconds } from "../../base/clock.ts";
import { bytes, clock, number, unixSeconds } from "../../base/format.ts";
import { Age, Facts, Holder, Verdicts, written } from "./facts.tsx";
import { History } from "./history.tsx";
import { poolsText } from "./pool_filter.ts";
import { nodeHealthy, nodeSchedulable, reachable, schedulable } from "./pool_words.ts";

export function LaneDetails({ node, lane }: { node: PoolNode; lane: PoolLane }) {
  return (
    <>
      <Verdicts
        of={[
          ["Reachable", reachable(node, seconds.value)],
          ["Schedulable", schedulable(lane)],
        ]}
      />
      <Facts
        of={[
          ["Lane", lane.label],
          ["Pool", lane.pool],
          ["Device", lane.device],
          ["Role", lane.role],
          ["Run", <Holder lane={lane} />],
        ]}
      />
      <History read={() => api.laneHistory(lane.id)} version={`${lane.id} ${lane.state_when_free} ${lane.reason}`} />
    </>
  );
}

export function NodeDetails({ node }: { node: PoolNode }) {
  const models = new Map<string, number>();
  for (const { accelerator } of node.gpus) models.set(accelerator, (models.get(accelerator) ?? 0) + 1);
  return (
    <>
      <Verdicts
        of={[
          ["Reachable", reachable(node, seconds.value)],
          ["Schedulable", nodeSchedulable(node)],
          ["Healthy", nodeHealthy(node)],
        ]}
      />
      <Facts
        of={[
          ["Address", node.address],
          ["GPUs", [...models].map(([model, count]) => `${count} × ${model || "unknown model"}`).join(", ") || "none"],
          ["Pools", poolsText(node)],
          ["CPU lanes", node.lanes.filter(({ kind }) => kind === "cpu").length],
          ["Cores", node.num_cores],
          ["Load", node.load === null ? null : number(node.load)],
          [
            "Memory",
            node.memory_bytes === null ? null : `${bytes(node.memory_used_bytes)} of ${bytes(node.memory_bytes)} used`,
          ],
          ["Object store", objectStore(node)],
          ["Embeddings", node.embeddings_room_bytes !== null && `room for ${bytes(node.embeddings_room_bytes)}`],
          ["Last report", <Age of={node.reported_at} />],
          ["In the cluster", node.in_cluster_at && clock(unixSeconds(node.in_cluster_at))],
          ["GPUs of a lane", node.gpus_per_lane > 1 && `${node.gpus_per_lane}`],
          ...written(node),
        ]}
      />
      <History read={() => api.nodeHistory(node.id)} version={historyVersion(node)} />
    </>
  );
}

/** Null where Ray has not told how much its store holds. */
function objectStore(node: PoolNode): string | null {
  const free = [
    node.shm_free_bytes !== null && `${bytes(node.shm_free_bytes)} free in shared memory`,
    node.spill_free_bytes !== null && `${bytes(node.spill_free_bytes)} on the disk behind it`,
  ];
  return node.object_store_bytes === null
    ? null
    : [bytes(node.object_store_bytes), ...free.filter((part) => part !== false)].join(", ");
}

/** A node's history is that of its GPUs and lanes too. */
function historyVersion(node: PoolNode): string {
  return [node, ...node.gpus, ...node.lanes]
    .map((row) => `${"state_when_free" in row ? row.state_when_free : row.state} ${row.reason}`)
    .join("|");
}
