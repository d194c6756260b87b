/** What projects may have of the pool, have, and used lately. */

import type { PoolShare } from "../../api/schema.ts";
import { number } from "../../base/format.ts";
import { MeterRow } from "../../ui/meter_row.tsx";
import { quotaOf, quotaText, share as shareOf } from "./quotas.ts";

interface Props {
  readonly shares: readonly PoolShare[];
  readonly numLanes: number;
  readonly halfLifeHours: number | null;
}

const PARTS = [
  ["own", "held"],
  ["borrowed", "borrowed"],
  ["guaranteed", "guaranteed"],
  ["entitled", "entitled"],
  ["limit", "limit"],
] as const;

export function QuotaBars({ shares, numLanes, halfLifeHours }: Props) {
  return (
    <section class="card" aria-label="Quotas">
      <div class="card-head">
        <h2>Quotas</h2>
        <ul class="quota-legend tiny muted" aria-label="Parts of a bar">
          {PARTS.map(([part, words]) => (
            <li key={part}>
              <i class={`quota-key ${part}`} aria-hidden="true" /> {words}
            </li>
          ))}
        </ul>
      </div>
      <ul class="quotas">
        {shares.map((row) => (
          <QuotaBar key={row.project_id} row={row} numLanes={numLanes} />
        ))}
      </ul>
      {halfLifeHours !== null && (
        <p class="tiny faint">
          Used lately: lane hours, each counting half after {number(halfLifeHours)} h. Who used less of what it is
          entitled to is served first.
        </p>
      )}
    </section>
  );
}

function QuotaBar({ row, numLanes }: { row: PoolShare; numLanes: number }) {
  const quota = quotaOf(row, numLanes);
  const at = (lanes: number) => shareOf(lanes, quota.whole);
  const parts = (
    <>
      <i class="guaranteed" style={{ width: at(row.guaranteed_lanes) }} />
      <i class="own" style={{ width: at(quota.own) }} />
      <i class="borrowed" style={{ left: at(quota.own), width: at(quota.borrowed) }} />
      <i class="entitled" style={{ left: at(row.entitled_lanes) }} />
      {row.max_lanes !== null && <i class="limit" style={{ left: at(row.max_lanes) }} />}
    </>
  );
  return (
    <MeterRow
      name={row.project_name}
      label={`Lanes of ${row.project_name}`}
      text={quotaText(row, quota)}
      value={row.held_lanes}
      max={quota.whole}
      parts={parts}
    >
      <span class="tiny faint num">used lately: {number(row.used_lane_hours)} lane hours</span>
    </MeterRow>
  );
}
