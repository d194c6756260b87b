/** Takes a node that is gone for good out of the inventory, once a pool admin has confirmed it. */

import { useState } from "preact/hooks";
import { api } from "../../api/endpoints.ts";
import type { PoolNode } from "../../api/schema.ts";
import { Confirm } from "../../ui/dialog.tsx";
import { attempt } from "../../ui/toasts.tsx";

/** Why the node cannot be removed yet; null where it can. The server asks the same again. */
export function removalRefused(node: Pick<PoolNode, "name" | "num_held">): string | null {
  if (node.num_held === 0) return null;
  const lanes = node.num_held === 1 ? "one of its lanes is" : `${node.num_held} of its lanes are`;
  return `${node.name} cannot be removed yet: ${lanes} held. Their runs give them back when they notice the loss.`;
}

export function RemoveNode({ node, onRemoved }: { node: PoolNode; onRemoved: () => void }) {
  const [isAsking, setAsking] = useState(false);
  if (node.state !== "lost") return null;
  const refused = removalRefused(node);
  const remove = async () => {
    if (await attempt(() => api.removeNode(node.id), `${node.name} was removed. Its history stays.`)) onRemoved();
  };
  return (
    <div class="stack-s">
      <button type="button" class="button danger" disabled={refused !== null} onClick={() => setAsking(true)}>
        Remove from the pool
      </button>
      {refused !== null && <p class="small muted">{refused}</p>}
      {isAsking && (
        <Confirm
          title={`Remove ${node.name}?`}
          text={
            "The node goes from the pool with its GPUs and lanes, and runs no longer wait for them. What was used, " +
            "changed and paid stays on record; a machine that comes back is a new node."
          }
          action="Remove the node"
          onConfirm={() => void remove()}
          onClose={() => setAsking(false)}
        />
      )}
    </div>
  );
}
