/** The pool: every node with its GPUs and CPU lanes, live, with an inspector of what is selected. */

import { useEffect, useMemo, useState } from "preact/hooks";
import type { PoolNode } from "../../api/schema.ts";
import { PoolStore } from "../../live/pool_store.ts";
import { Segmented } from "../../ui/controls.tsx";
import { Failed, Loading } from "../../ui/states.tsx";
import { type Colouring, gpuKey } from "./cells.ts";
import { Freshness } from "./freshness.tsx";
import { Inspector } from "./inspector.tsx";
import { AddNodeDialog, JoinHelp } from "./join_help.tsx";
import { PoolLegend } from "./legend.tsx";
import { ALL_POOLS, nodesInPool, poolNames } from "./pool_filter.ts";
import { PoolList } from "./pool_list.tsx";
import { PoolMap } from "./pool_map.tsx";
import { PoolsDialog } from "./pools_dialog.tsx";
import { NOTHING, type Selection, selectedRows } from "./selection.ts";

const COLOURINGS = [
  { value: "state", label: "State" },
  { value: "utilisation", label: "Utilisation" },
  { value: "memory", label: "Memory" },
] as const;
/** Below this width cells are too small for a finger, and a list stands in place of the map. */
const NARROW = "(max-width: 760px)";

export function PoolPage() {
  const store = useMemo(() => new PoolStore(), []);
  const [colouring, setColouring] = useState<Colouring>("state");
  const [selection, setSelection] = useState<Selection>(NOTHING);
  const [pool, setPool] = useState(ALL_POOLS);
  const [isAdding, setAdding] = useState(false);
  const [showsPools, setShowsPools] = useState(false);
  const isNarrow = useMedia(NARROW);
  useEffect(() => {
    store.start();
    return () => store.stop();
  }, [store]);

  const nodes = store.nodes.value;
  const facts = store.facts.value;
  const pools = useMemo(() => poolNames(nodes), [nodes]);
  // A pool that has lost its last lane is not offered any more.
  const chosen = pools.includes(pool) ? pool : ALL_POOLS;
  const shown = useMemo(() => nodesInPool(nodes, chosen), [nodes, chosen]);
  const choosePool = (name: string) => {
    setPool(name);
    setSelection(NOTHING);
  };
  const peers = useMemo(() => peersOf(selection, nodes), [selection, nodes]);
  if (store.problem.value !== null && !store.loaded.value) {
    return <Failed message={store.problem.value} onRetry={() => store.reload()} />;
  }
  if (!store.loaded.value || facts === null) return <Loading label="Loading the pool" />;
  const View = isNarrow ? PoolList : PoolMap;
  return (
    <>
      <div class="page-head">
        <div class="row">
          <h1>Pool</h1>
          <Freshness store={store} />
        </div>
        {pools.length > 1 && <PoolSwitch pools={pools} value={chosen} onChange={choosePool} />}
        {nodes.length > 0 && !isNarrow && (
          <Segmented label="Colour by" choices={COLOURINGS} value={colouring} onChange={setColouring} />
        )}
        {store.mayAct.value && (
          <button type="button" class="button" onClick={() => setShowsPools(true)}>
            Pools
          </button>
        )}
        <button type="button" class="button" onClick={() => setAdding(true)}>
          Add a node
        </button>
      </div>
      {nodes.length === 0 ? (
        <section class="card">
          <h2>No node yet</h2>
          <p class="muted">Runs wait in the queue until the pool has lanes for them. To make a machine part of it:</p>
          <JoinHelp facts={facts} />
        </section>
      ) : (
        <div class="pool">
          <div class="stack-s">
            <PoolLegend nodes={shown} colouring={isNarrow ? "state" : colouring} />
            <View {...{ colouring, selection, peers }} nodes={shown} onSelect={setSelection} />
          </div>
          <Inspector
            {...{ nodes, selection }}
            mayAct={store.mayAct.value}
            onSelect={setSelection}
            onActed={(read) => store.apply(read)}
            onRemoved={() => {
              setSelection(NOTHING);
              store.reload();
            }}
          />
        </div>
      )}
      {showsPools && <PoolsDialog onChanged={() => store.reload()} onClose={() => setShowsPools(false)} />}
      {isAdding && <AddNodeDialog onClose={() => setAdding(false)} />}
    </>
  );
}

function PoolSwitch(props: { pools: readonly string[]; value: string; onChange: (pool: string) => void }) {
  return (
    <select
      class="input pool-switch"
      aria-label="Pool"
      value={props.value}
      onChange={(event) => props.onChange(event.currentTarget.value)}
    >
      <option value={ALL_POOLS}>All pools</option>
      {props.pools.map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  );
}

/** The GPUs that the only selected one reaches over NVLink. */
function peersOf(selection: Selection, nodes: readonly PoolNode[]): Selection {
  if (selection.size !== 1) return NOTHING;
  const [only] = selectedRows(selection, nodes).gpus;
  if (only === undefined) return NOTHING;
  const uuids = new Set(only.gpu.topology?.nvlink_peers);
  return new Set(nodes.flatMap((node) => node.gpus.filter(({ uuid }) => uuids.has(uuid)).map(gpuKey)));
}

function useMedia(query: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const follow = () => setMatches(list.matches);
    list.addEventListener("change", follow);
    return () => list.removeEventListener("change", follow);
  }, [query]);
  return matches;
}
