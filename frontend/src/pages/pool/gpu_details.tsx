/** Parts of the inspector and of a GPU's own page: what is known of one GPU. */

import type { ComponentChildren } from "preact";
import { api } from "../../api/endpoints.ts";
import type { PoolGpu, PoolNode } from "../../api/schema.ts";
import { seconds } from "../../base/clock.ts";
import { bytes, duration, number, unixSeconds } from "../../base/format.ts";
import { gpuKey, laneOf, memoryShare } from "./cells.ts";
import { Age, Facts, Holder, Meter, Verdicts, written } from "./facts.tsx";
import { History } from "./history.tsx";
import { counterTexts, healthy, isStale, reachable, schedulable } from "./pool_words.ts";
import type { Selection } from "./selection.ts";
import { TestSteps } from "./test_steps.tsx";
import { Waits } from "./waits.tsx";

interface GpuProps {
  readonly node: PoolNode;
  readonly gpu: PoolGpu;
}

export function GpuDetails({ node, gpu, onSelect }: GpuProps & { onSelect: (to: Selection) => void }) {
  return (
    <>
      <p>
        <a href={gpuPage(gpu.id)}>History, charts and tests of this GPU</a>
      </p>
      <GpuVerdicts {...{ node, gpu }} />
      <Waits gpu={gpu} lane={laneOf(node, gpu)} />
      {gpu.test && (
        <section aria-label="Test">
          <h3>Test</h3>
          <TestSteps test={gpu.test} />
        </section>
      )}
      <Counters gpu={gpu} />
      <LiveValues gpu={gpu} />
      <GpuUseNow {...{ node, gpu }} />
      <Identity
        {...{ node, gpu }}
        peer={(other) => (
          <button key={other.id} type="button" class="tag" onClick={() => onSelect(new Set([gpuKey(other)]))}>
            GPU {other.index}
          </button>
        )}
      />
      <History read={() => api.gpuHistory(gpu.id)} version={`${gpu.id} ${gpu.state_when_free} ${gpu.reason}`} />
    </>
  );
}

/** The address of a GPU's own page. */
export const gpuPage = (id: number) => `/pool/gpus/${id}`;

export function GpuVerdicts({ node, gpu }: GpuProps) {
  const now = seconds.value;
  return (
    <Verdicts
      of={[
        ["Reachable", reachable(node, now, gpu)],
        ["Schedulable", schedulable(gpu)],
        ["Healthy", healthy(node, gpu, now)],
      ]}
    />
  );
}

export function Counters({ gpu }: { readonly gpu: PoolGpu }) {
  const counters = counterTexts(gpu.faults);
  if (counters.length === 0) return null;
  return (
    <section aria-label="Counted by its driver">
      <h3>Counted by its driver</h3>
      <ul class="counters small muted">
        {counters.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
    </section>
  );
}

export function GpuUseNow({ node, gpu }: GpuProps) {
  const lane = laneOf(node, gpu);
  const idle = unixSeconds(gpu.idle_since);
  return (
    <section aria-label="Use">
      <h3>Use</h3>
      <Facts
        of={[
          ["Lane", gpu.lane || "none"],
          ["Pool", lane?.pool ?? ""],
          ["Role", lane?.role ?? ""],
          ["Run", <Holder lane={lane} />],
          ["Idle for it", idle === null ? null : `for ${duration(seconds.value - idle)} now`],
          ["Longest idle", gpu.longest_idle_seconds > 0 ? duration(gpu.longest_idle_seconds) : null],
          ...written(gpu, node.price_per_gpu_hour),
        ]}
      />
    </section>
  );
}

/** `peer` draws a GPU that it reaches over NVLink. */
export function Identity({ node, gpu, peer }: GpuProps & { peer: (other: PoolGpu) => ComponentChildren }) {
  const { identity, topology } = gpu;
  const peers = node.gpus.filter(({ uuid }) => uuid !== "" && topology?.nvlink_peers.includes(uuid));
  return (
    <section aria-label="Identity and topology">
      <h3>Identity and topology</h3>
      <Facts
        of={[
          ["Model", gpu.accelerator || "unknown"],
          ["Vendor", identity && VENDORS[identity.vendor]],
          ["UUID", gpu.uuid && <span class="mono">{gpu.uuid}</span>],
          ["Part of", identity?.parent_uuid && <span class="mono">{identity.parent_uuid}</span>],
          ["Node, index", `${node.name}, ${gpu.index}`],
          ["Memory", identity && bytes(identity.memory_bytes)],
          ["Architecture", identity && [identity.architecture, identity.compute_capability].filter(Boolean).join(" ")],
          ["Highest clock", identity?.max_sm_clock == null ? null : `${number(identity.max_sm_clock)} MHz`],
          ["Measured", measured(identity?.figures)],
          ["PCI address", identity?.pci_address],
          ["Driver, runtime", identity && [identity.driver, identity.runtime].filter(Boolean).join(", ")],
          ["NUMA node", topology?.numa_node],
          ["NVLink", topology?.num_nvlinks_up == null ? null : `${topology.num_nvlinks_up} links up`],
          ["NVLink to", peers.length > 0 ? <span class="row">{peers.map(peer)}</span> : topology && "no other GPU"],
        ]}
      />
    </section>
  );
}

const VENDORS = { nvidia: "NVIDIA", amd: "AMD", ascend: "Ascend" } as const;

/** What its node measured of a card without a hardware profile, by which the planner counts it. */
function measured(figures: NonNullable<PoolGpu["identity"]>["figures"] | undefined) {
  if (!figures) return null;
  const tera = (flops: number) => `${number(flops / 1e12)} TFLOPS`;
  const rates = [`${tera(figures.bf16_flops)} in bf16`, `${tera(figures.fp32_flops)} in fp32`];
  // 1 where the vendor's library does not tell.
  const processors = figures.num_processors > 1 ? [`${figures.num_processors} multiprocessors`] : [];
  return [...rates, `${bytes(figures.memory_bandwidth)}/s`, ...processors].join(", ");
}

export function LiveValues({ gpu }: { gpu: PoolGpu }) {
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
