/** The pools as pool admins keep them: what each matches, what it holds, and the forms to make, change or remove one. */

import { useState } from "preact/hooks";
import { api } from "../../api/endpoints.ts";
import type { Pool } from "../../api/schema.ts";
import { number } from "../../base/format.ts";
import { Confirm, Dialog } from "../../ui/dialog.tsx";
import { useResource } from "../../ui/resource.ts";
import { Failed, Loading } from "../../ui/states.tsx";
import { attempt } from "../../ui/toasts.tsx";
import { PoolForm } from "./pool_form.tsx";

/** The pool of the lanes that no other pool matches; it can be neither made nor removed. */
export const isDefaultPool = ({ match_labels }: Pick<Pool, "match_labels">) => Object.keys(match_labels).length === 0;

/** "model: h100, rack: r2", or what the default pool has. */
export function matchText(pool: Pick<Pool, "match_labels">): string {
  if (isDefaultPool(pool)) return "what no other pool matches";
  return Object.entries(pool.match_labels)
    .map(([name, value]) => (value ? `${name}: ${value}` : name))
    .join(", ");
}

type Open = { readonly pool: Pool | undefined } | null;

/** `onChanged`: lanes may have moved. */
export function PoolsDialog({ onChanged, onClose }: { onChanged: () => void; onClose: () => void }) {
  const pools = useResource(api.pools, []);
  const [open, setOpen] = useState<Open>(null);
  const [leaving, setLeaving] = useState<Pool | null>(null);
  const changed = () => {
    setOpen(null);
    pools.reload();
    onChanged();
  };
  const remove = async ({ name }: Pool) => {
    if (await attempt(() => api.removePool(name), `Pool ${name} was removed; its lanes have moved.`)) changed();
  };
  return (
    <Dialog title="Pools" wide onClose={onClose}>
      {pools.error !== null && <Failed message={pools.error} onRetry={pools.reload} />}
      {!pools.value && pools.error === null && <Loading label="Loading the pools" />}
      {pools.value && !open && (
        <>
          <PoolTable pools={pools.value} onEdit={(pool) => setOpen({ pool })} onRemove={setLeaving} />
          <button type="button" class="button primary" onClick={() => setOpen({ pool: undefined })}>
            New pool
          </button>
        </>
      )}
      {open && (
        <PoolForm
          pool={open.pool}
          isDefault={open.pool !== undefined && isDefaultPool(open.pool)}
          onDone={changed}
          onCancel={() => setOpen(null)}
        />
      )}
      {leaving && (
        <Confirm
          title={`Remove the pool ${leaving.name}?`}
          text="Its lanes move to the pools that match them now, and its shares and its policy go. Runs that have not ended keep it from being removed."
          action="Remove the pool"
          onConfirm={() => void remove(leaving)}
          onClose={() => setLeaving(null)}
        />
      )}
    </Dialog>
  );
}

interface TableProps {
  readonly pools: readonly Pool[];
  readonly onEdit: (pool: Pool) => void;
  readonly onRemove: (pool: Pool) => void;
}

function PoolTable({ pools, onEdit, onRemove }: TableProps) {
  return (
    <div class="table-wrap">
      <table>
        <thead>
          <tr>
            <th>Pool</th>
            <th>Lanes with</th>
            <th class="right" title="Of several pools that match a lane, the one with the lowest order has it">
              Order
            </th>
            <th class="right">Lanes</th>
            <th class="right">Runs</th>
            <th class="right">Waiting</th>
            <th />
          </tr>
        </thead>
        <tbody>
          {pools.map((pool) => (
            <tr key={pool.name}>
              <td>
                <a href={`/queue?pool=${encodeURIComponent(pool.name)}`}>{pool.name}</a>
                {pool.description && <span class="small muted"> {pool.description}</span>}
              </td>
              <td class="small">{matchText(pool)}</td>
              <td class="right num">{isDefaultPool(pool) ? "last" : pool.order}</td>
              <td class="right num">{number(pool.num_lanes)}</td>
              <td class="right num">{number(pool.runs.length)}</td>
              <td class="right num">{number(pool.num_waiting)}</td>
              <td class="right nowrap">
                <button
                  type="button"
                  class="button small"
                  aria-label={`Change ${pool.name}`}
                  onClick={() => onEdit(pool)}
                >
                  Change
                </button>{" "}
                {!isDefaultPool(pool) && (
                  <button
                    type="button"
                    class="button small danger"
                    aria-label={`Remove ${pool.name}`}
                    onClick={() => onRemove(pool)}
                  >
                    Remove
                  </button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
