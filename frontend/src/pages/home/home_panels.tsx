/** Beside the runs: what needs somebody, and the lanes of each pool by state. */

import type { HomeAlert, Pool, PoolState } from "../../api/schema.ts";
import { spelt } from "../../base/format.ts";
import { Icon } from "../../ui/icon.tsx";

export function Alerts({ alerts }: { alerts: readonly HomeAlert[] }) {
  return (
    <section class="band" aria-label="Alerts">
      <h2>
        Alerts
        <span class="count">{alerts.length}</span>
      </h2>
      {alerts.length === 0 && <p class="small muted home-none">Nothing needs you.</p>}
      <ul class="stack-s home-alerts">
        {alerts.map(({ text, page }) => (
          <li key={text} class="notice warn small">
            <Icon name="warning" />
            <a href={page}>{text}</a>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Number of lanes by state, over all kinds and devices. */
export function lanesByState(pool: Pool): readonly (readonly [PoolState, number])[] {
  const sums = new Map<PoolState, number>();
  for (const { state, number } of pool.lanes) sums.set(state, (sums.get(state) ?? 0) + number);
  return [...sums];
}

export function PoolLanes({ pools }: { pools: readonly Pool[] }) {
  return (
    <section class="band" aria-label="Pools">
      <h2>Pools</h2>
      <ul class="stack home-pools">
        {pools.map((pool) => (
          <li key={pool.name}>
            <div class="row-between small">
              <a href="/pool">{pool.name}</a>
              <span class="muted num">
                {pool.num_lanes} {pool.num_lanes === 1 ? "lane" : "lanes"} · {pool.num_waiting} waiting
              </span>
            </div>
            <LaneBar pool={pool} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function LaneBar({ pool }: { pool: Pool }) {
  const states = lanesByState(pool);
  const text = states.map(([state, number]) => `${number} ${spelt(state)}`).join(", ");
  return (
    <>
      <div class="lane-bar" role="img" aria-label={text || "no lanes"}>
        {states.map(([state, number]) => (
          <i key={state} style={{ flexGrow: number, background: `var(--state-${state})` }} />
        ))}
      </div>
      <p class="tiny muted">{text}</p>
    </>
  );
}
