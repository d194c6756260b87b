/** The rail's meter of the pool: lanes held, of all, read again while the page is looked at. */

import { useEffect } from "preact/hooks";
import { api } from "../api/endpoints.ts";
import type { Pool, PoolState } from "../api/schema.ts";
import { useResource } from "../ui/resource.ts";

const REFRESH_MILLISECONDS = 20_000;

export interface PoolUse {
  readonly numLanes: number;
  readonly numInUse: number;
  readonly numWaiting: number;
}

/** States of a lane that somebody holds. */
const IN_USE: readonly PoolState[] = ["allocated", "draining"];

/** All pools together. */
export function poolUse(pools: readonly Pool[]): PoolUse {
  const held = pools.flatMap(({ lanes }) => lanes).filter(({ state }) => IN_USE.includes(state));
  return {
    numLanes: sum(pools.map(({ num_lanes }) => num_lanes)),
    numInUse: sum(held.map(({ number }) => number)),
    numWaiting: sum(pools.map(({ num_waiting }) => num_waiting)),
  };
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

export function PoolMeter() {
  const { value, reload } = useResource(api.pools, []);
  useEffect(() => {
    const timer = setInterval(() => document.hidden || reload(), REFRESH_MILLISECONDS);
    return () => clearInterval(timer);
  }, [reload]);
  if (!value) return null;
  const { numLanes, numInUse, numWaiting } = poolUse(value);
  const lanes = `${numInUse} of ${numLanes} ${numLanes === 1 ? "lane" : "lanes"}`;
  return (
    <a href="/pool" title={`${lanes} in use; ${numWaiting} ${numWaiting === 1 ? "run waits" : "runs wait"}`}>
      <span class="pool-meter-words">
        <b class="num">{lanes}</b>
        {numWaiting > 0 && <span class="num">{numWaiting} waiting</span>}
      </span>
      <span class="progress" aria-hidden="true">
        <i style={{ width: `${numLanes === 0 ? 0 : (100 * numInUse) / numLanes}%` }} />
      </span>
    </a>
  );
}
