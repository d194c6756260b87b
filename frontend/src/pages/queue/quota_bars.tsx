/** What projects may have of the pool, have, and used lately. */

import type { PoolShare } from "../../api/schema.ts";
import { number } from "../../base/format.ts";
import { quotaOf, quotaText, share as shareOf } from "./quotas.ts";

interface Props {
  readonly shares: readonly PoolShare[];
  readonly numLanes: number;
  readonly halfLifeHours: number | null;
}

export function QuotaBars({ shares, numLanes, halfLifeHours }: Props) {
  return (
    <section class="card" aria-label="Quotas">
      <div class="card-head">
        <h2>Quotas</h2>
        <ul class="quota-legend tiny muted" aria-label="Parts of a bar">
          <li>
            <i class="quota-key own" aria-hidden="true" /> held
          </li>
          <li>
            <i class="quota-key borrowed" aria-hidden="true" /> borrowed
          </li>
          <li>
            <i class="quota-key guaranteed" aria-hidden="true" /> guaranteed
          </li>
          <li>
            <i class="quota-key entitled" aria-hidden="true" /> entitled
          </li>
          <li>
            <i class="quota-key limit" aria-hidden="true" /> limit
          </li>
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
  return (
    <li>
      <div class="row-between">
        <b>{row.project_name}</b>
        <span class="small muted">{quotaText(row, quota)}</span>
      </div>
      <div
        class="quota-bar"
        role="meter"
        aria-label={`Lanes of ${row.project_name}`}
        aria-valuemin={0}
        aria-valuemax={quota.whole}
        aria-valuenow={row.held_lanes}
        aria-valuetext={quotaText(row, quota)}
      >
        <i class="guaranteed" style={{ width: at(row.guaranteed_lanes) }} />
        <i class="own" style={{ width: at(quota.own) }} />
        <i class="borrowed" style={{ left: at(quota.own), width: at(quota.borrowed) }} />
        <i class="entitled" style={{ left: at(row.entitled_lanes) }} />
        {row.max_lanes !== null && <i class="limit" style={{ left: at(row.max_lanes) }} />}
      </div>
      <span class="tiny faint num">used lately: {number(row.used_lane_hours)} lane hours</span>
    </li>
  );
}
