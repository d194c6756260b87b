/** What the colours of the map mean, with how many GPUs are in each state. */

import { type PoolNode, type PoolState, poolStateValues } from "../../api/schema.ts";
import { type Colouring, countsByState, isLeaving } from "./cells.ts";
import { STATE_WORDS, stateText } from "./pool_words.ts";

/** States of which even none is worth saying. */
const ALWAYS_SHOWN: ReadonlySet<PoolState> = new Set(["available", "allocated", "cordoned", "draining", "lost"]);

export function PoolLegend({ nodes, colouring }: { nodes: readonly PoolNode[]; colouring: Colouring }) {
  const counts = countsByState(nodes);
  const gpus = nodes.flatMap((node) => node.gpus);
  const numLeaving = gpus.filter(isLeaving).length;
  const numIll = gpus.filter(({ health }) => health !== "healthy").length;
  const states = (
    <ul class="pool-legend" aria-label="Number of GPUs by state">
      {poolStateValues
        .filter((state) => ALWAYS_SHOWN.has(state) || counts.has(state))
        .map((state) => (
          <li key={state} title={STATE_WORDS[state]}>
            {colouring === "state" && <i class={`cell gpu ${state}`} aria-hidden="true" />}
            <b class="num">{counts.get(state) ?? 0}</b> {stateText(state)}
          </li>
        ))}
      {numLeaving > 0 && (
        <li title="Held, and takes no other work once it is free">
          <i class="cell gpu allocated then-kept-back" aria-hidden="true" />
          <b class="num">{numLeaving}</b> allocated, no more work after
        </li>
      )}
      {numIll > 0 && (
        <li title="The driver counts something against it: see the inspector">
          <i class="cell gpu health-warning" aria-hidden="true" />
          <b class="num">{numIll}</b> not healthy
        </li>
      )}
      {colouring === "state" && (
        <li title="Held, and no kernel ran in the last sampling period">
          <i class="cell gpu allocated hatched" aria-hidden="true" />
          idle
        </li>
      )}
    </ul>
  );
  if (colouring === "state") return states;
  return (
    <div class="row">
      <span class="pool-legend">
        0 % <i class="heat-scale" aria-hidden="true" /> 100 %
        <span>
          <i class="cell gpu unknown hatched" aria-hidden="true" />{" "}
          {colouring === "memory" ? "unknown" : "idle or unknown"}
        </span>
      </span>
      {states}
    </div>
  );
}
