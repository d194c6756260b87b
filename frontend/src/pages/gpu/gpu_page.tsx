/** A GPU's own page: what it is and does, what it waits for, who used it, what happened to it, and what an admin can do
 * with it. Live by the pool's socket. */

import { useEffect, useMemo } from "preact/hooks";
import { api } from "../../api/endpoints.ts";
import type { PoolGpu, PoolNode } from "../../api/schema.ts";
import { PoolStore } from "../../live/pool_store.ts";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { ActionForm } from "../pool/action_form.tsx";
import { laneOf } from "../pool/cells.ts";
import { Freshness } from "../pool/freshness.tsx";
import { Counters, GpuUseNow, GpuVerdicts, gpuPage, Identity, LiveValues } from "../pool/gpu_details.tsx";
import { History } from "../pool/history.tsx";
import { stateText } from "../pool/pool_words.ts";
import { Waits } from "../pool/waits.tsx";
import { GpuHealthHistory } from "./gpu_health.tsx";
import { GpuHours } from "./gpu_hours.tsx";
import { GpuTests } from "./gpu_tests.tsx";
import { GpuUses } from "./gpu_uses.tsx";

interface Props {
  readonly gpuId: number;
  /** The node that it is in as the page is opened. */
  readonly nodeId: number;
}

export function GpuPage({ gpuId, nodeId }: Props) {
  const store = useMemo(() => new PoolStore([nodeId]), [nodeId]);
  useEffect(() => {
    store.start();
    return () => store.stop();
  }, [store]);
  if (store.problem.value !== null && !store.loaded.value) {
    return <Failed message={store.problem.value} onRetry={() => store.reload()} />;
  }
  if (!store.loaded.value) return <Loading label="Loading the GPU" />;
  const [node] = store.nodes.value;
  const gpu = node?.gpus.find(({ id }) => id === gpuId);
  if (node === undefined || gpu === undefined) {
    return <Empty title="The GPU is not in this node any more">Load the page again to find it where it is now.</Empty>;
  }
  return (
    <>
      <div class="page-head">
        <div class="row">
          <h1>
            GPU {gpu.index} of {node.name}
          </h1>
          <span class={`pill pool-${gpu.state}`}>{stateText(gpu.state)}</span>
          {gpu.health !== "healthy" && <span class={`pill health-${gpu.health}`}>{gpu.health}</span>}
          <Freshness store={store} />
        </div>
        <Neighbours {...{ node, gpu }} />
      </div>
      <div class="gpu-page">
        <aside class="card stack gpu-now" aria-label="State and actions">
          <h2 class="visually-hidden">State and actions</h2>
          <GpuVerdicts {...{ node, gpu }} />
          <Waits gpu={gpu} lane={laneOf(node, gpu)} />
          {store.mayAct.value && (
            <ActionForm
              selected={{ nodes: [], lanes: [], gpus: [{ node, gpu }] }}
              onDone={(read) => store.apply(read)}
            />
          )}
        </aside>
        <div class="stack gpu-past">
          <GpuTests gpu={gpu} />
          <GpuHours gpu={gpu} />
          <GpuUses gpu={gpu} lane={laneOf(node, gpu)} />
          <div class="grid-2">
            <GpuHealthHistory gpu={gpu} />
            <section class="card">
              <History
                ofGpu={gpu.id}
                read={() => api.gpuHistory(gpu.id)}
                version={`${gpu.state_when_free} ${gpu.reason} ${gpu.since}`}
              />
            </section>
          </div>
        </div>
        <aside class="card stack gpu-record" aria-label="Record">
          <h2 class="visually-hidden">Record</h2>
          <LiveValues gpu={gpu} />
          <GpuUseNow {...{ node, gpu }} />
          <Counters gpu={gpu} />
          <Identity {...{ node, gpu }} peer={(other) => <PeerLink key={other.id} to={other} />} />
        </aside>
      </div>
    </>
  );
}

function PeerLink({ to }: { readonly to: PoolGpu }) {
  return (
    <a class="tag" href={gpuPage(to.id)}>
      GPU {to.index}
    </a>
  );
}

/** The other GPUs of the node, one step away. */
function Neighbours({ node, gpu }: { readonly node: PoolNode; readonly gpu: PoolGpu }) {
  if (node.gpus.length < 2) return null;
  return (
    <nav class="row" aria-label={`GPUs of ${node.name}`}>
      {node.gpus.map((other) => (
        <a
          key={other.id}
          href={gpuPage(other.id)}
          class={`tag ${other.id === gpu.id ? "on" : ""}`}
          aria-current={other.id === gpu.id ? "page" : undefined}
          aria-label={`GPU ${other.index}`}
        >
          {other.index}
        </a>
      ))}
    </nav>
  );
}
