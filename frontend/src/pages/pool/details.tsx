/** Parts of the inspector: what is known of one GPU, one lane, one node. */

import type { ComponentChildren } from "preact";
import { api } from "../../api/endpoints.ts";
import type { PoolGpu, PoolLane, PoolNode } from "../../api/schema.ts";
import { seconds } from "../../base/clock.ts";
import { bytes, clock, duration, number, percent, unixSeconds } from "../../base/format.ts";
import { gpuKey, laneOf, memoryShare } from "./cells.ts";
import { History } from "./history.tsx";
import { poolsText } from "./pool_filter.ts";
import {
  ageOf,
  ageText,
  counterTexts,
  healthy,
  isStale,
  nodeHealthy,
  nodeSchedulable,
  reachable,
  schedulable,
  type Verdict,
} from "./pool_words.ts";
import type { Selection } from "./selection.ts";

type Fact = readonly [name: string, value: ComponentChildren];

/** Facts as a list; those without a value are left out. */
function Facts({ of }: { of: readonly Fact[] }) {
  const known = of.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return (
    <dl class="kv">
      {known.flatMap(([name, value]) => [<dt key={`${name}:`}>{name}</dt>, <dd key={name}>{value}</dd>])}
    </dl>
  );
}

function Verdicts({ of }: { of: readonly (readonly [string, Verdict])[] }) {
  return (
    <dl class="pool-verdicts">
      {of.map(([name, { tone, answer, text }]) => (
        <div key={name} class={`pool-verdict ${tone}`}>
          <dt>
            {name} <b>{answer}</b>
          </dt>
          <dd class="small muted">{text}</dd>
        </div>
      ))}
    </dl>
  );
}

/** "2 s ago", in another colour once it is old. */
function Age({ of }: { of: string | null }) {
  const now = seconds.value;
  const age = ageOf(of, now);
  if (age === null) return <span class="age stale">never reported</span>;
  return <span class={`age num ${isStale(of, now) ? "stale" : ""}`}>{ageText(age)}</span>;
}

/** The run that holds a lane, where the user may see it. */
function Holder({ lane }: { lane: PoolLane | undefined }) {
  if (lane === undefined || lane.run_name === "") return <>none</>;
  const since = unixSeconds(lane.held_since);
  return (
    <>
      {lane.run_id === null ? lane.run_name : <a href={`/runs/${lane.run_id}`}>{lane.run_name}</a>}
      {since !== null && <span class="muted"> for {duration(seconds.value - since)}</span>}
    </>
  );
}

export function GpuDetails({
  node,
  gpu,
  onSelect,
}: {
  node: PoolNode;
  gpu: PoolGpu;
  onSelect: (to: Selection) => void;
}) {
  const now = seconds.value;
  const { identity } = gpu;
  const lane = laneOf(node, gpu);
  const counters = counterTexts(gpu.faults);
  const peers = node.gpus.filter(({ uuid }) => uuid !== "" && gpu.topology?.nvlink_peers.includes(uuid));
  return (
    <>
      <Verdicts
        of={[
          ["Reachable", reachable(node, now, gpu)],
          ["Schedulable", schedulable(gpu)],
          ["Healthy", healthy(node, gpu, now)],
        ]}
      />
      {counters.length > 0 && (
        <section aria-label="Counted by its driver">
          <h3>Counted by its driver</h3>
          <ul class="counters small muted">
            {counters.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </section>
      )}
      <Live gpu={gpu} />
      <section aria-label="Use">
        <h3>Use</h3>
        <Facts
          of={[
            ["Lane", gpu.lane || "none"],
            ["Pool", lane?.pool],
            ["Role", lane?.role ?? ""],
            ["Run", <Holder lane={lane} />],
            ...written(gpu, node.price_per_gpu_hour),
          ]}
        />
      </section>
      <section aria-label="Identity and topology">
        <h3>Identity and topology</h3>
        <Facts
          of={[
            ["Model", gpu.accelerator || "unknown"],
            ["UUID", gpu.uuid && <span class="mono">{gpu.uuid}</span>],
            ["Part of", identity?.parent_uuid && <span class="mono">{identity.parent_uuid}</span>],
            ["Node, index", `${node.name}, ${gpu.index}`],
            ["Memory", identity && bytes(identity.memory_bytes)],
            [
              "Architecture",
              identity && [identity.architecture, identity.compute_capability].filter(Boolean).join(" "),
            ],
            ["PCI address", identity?.pci_address],
            ["Driver, runtime", identity && [identity.driver, identity.runtime].filter(Boolean).join(", ")],
            ["NUMA node", gpu.topology?.numa_node],
            [
              "NVLink to",
              peers.length > 0 ? <Peers peers={peers} onSelect={onSelect} /> : gpu.topology && "no other GPU",
            ],
          ]}
        />
      </section>
      <History read={() => api.gpuHistory(gpu.id)} version={`${gpu.id} ${gpu.state_when_free} ${gpu.reason}`} />
    </>
  );
}

function Peers({ peers, onSelect }: { peers: readonly PoolGpu[]; onSelect: (to: Selection) => void }) {
  return (
    <span class="row">
      {peers.map((peer) => (
        <button key={peer.id} type="button" class="tag" onClick={() => onSelect(new Set([gpuKey(peer)]))}>
          GPU {peer.index}
        </button>
      ))}
    </span>
  );
}

function Live({ gpu }: { gpu: PoolGpu }) {
  const { live, identity } = gpu;
  const unit = (value: number | null | undefined, name: string) =>
    value === null || value === undefined ? null : `${number(value)} ${name}`;
  return (
    <section aria-label="Live values" class={isStale(gpu.reported_at, seconds.value) ? "stale-values" : ""}>
      <h3 class="row-between">
        Live values <Age of={gpu.reported_at} />
      </h3>
      {live === null ? (
        <p class="small muted">No agent has reported this GPU yet.</p>
      ) : (
        <Facts
          of={[
            ["Utilisation", live.utilisation === null ? null : <Meter share={live.utilisation} />],
            ["Memory", live.memory_used_bytes === null ? null : <Meter share={memoryShare(gpu)} />],
            [
              "Memory used",
              live.memory_used_bytes === null
                ? null
                : `${bytes(live.memory_used_bytes)}${identity?.memory_bytes ? ` of ${bytes(identity.memory_bytes)}` : ""}`,
            ],
            ["Temperature", unit(live.temperature, "°C")],
            ["Memory temperature", unit(live.memory_temperature, "°C")],
            ["Power", live.power === null ? null : `${number(live.power)} of ${number(live.power_limit)} W`],
            [
              "Clocks",
              live.sm_clock === null ? null : `${number(live.sm_clock)}, memory ${number(live.memory_clock)} MHz`,
            ],
            ["Energy", live.energy_joules === null ? null : `${number(live.energy_joules / JOULES_PER_KWH)} kWh`],
            [
              "NVLink",
              live.nvlink_bytes_per_second === null ? null : `${bytes(live.nvlink_bytes_per_second)} a second`,
            ],
            ["Processes", live.num_processes],
          ]}
        />
      )}
    </section>
  );
}

const JOULES_PER_KWH = 3.6e6;

function Meter({ share }: { share: number | null }) {
  return (
    <span class="meter-row">
      <span class="progress" aria-hidden="true">
        <i style={{ width: percent(share).replace(" ", "") }} />
      </span>
      <span class="num">{percent(share)}</span>
    </span>
  );
}

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
          ["Pools", poolsText(node)],
          ["GPUs", [...models].map(([model, count]) => `${count} × ${model || "unknown model"}`).join(", ") || "none"],
          ["CPU lanes", node.lanes.filter(({ kind }) => kind === "cpu").length],
          ["Cores", node.num_cores],
          ["Load", node.load === null ? null : number(node.load)],
          [
            "Memory",
            node.memory_bytes === null ? null : `${bytes(node.memory_used_bytes)} of ${bytes(node.memory_bytes)} used`,
          ],
          ["Last report", <Age of={node.reported_at} />],
          ["In the cluster", node.in_cluster_at && clock(unixSeconds(node.in_cluster_at))],
          ...written(node),
        ]}
      />
      <History read={() => api.nodeHistory(node.id)} version={historyVersion(node)} />
    </>
  );
}

/** What admins wrote about a node or a GPU; a GPU without a price of its own has its node's. */
function written(of: PoolNode | PoolGpu, priceOfNode: string | null = null): Fact[] {
  const labels = Object.entries(of.labels).map(([name, value]) => (value ? `${name}: ${value}` : name));
  const price = of.price_per_gpu_hour ?? priceOfNode;
  return [
    ["Labels", labels.join(", ")],
    ["Notes", of.notes],
    ["Price", price === null ? null : `${number(Number(price))} a GPU hour`],
  ];
}

/** A node's history is that of its GPUs and lanes too. */
function historyVersion(node: PoolNode): string {
  return [node, ...node.gpus, ...node.lanes]
    .map((row) => `${"state_when_free" in row ? row.state_when_free : row.state} ${row.reason}`)
    .join("|");
}
