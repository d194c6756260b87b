/** What happened to a GPU's health: each change with its causes, what its driver had counted, and what to do. */

import { api } from "../../api/endpoints.ts";
import type { GpuHealth, PoolGpu } from "../../api/schema.ts";
import { clock, unixSeconds } from "../../base/format.ts";
import { useResource } from "../../ui/resource.ts";
import { Failed, Loading } from "../../ui/states.tsx";
import { counterTexts } from "../pool/pool_words.ts";

export function GpuHealthHistory({ gpu }: { readonly gpu: PoolGpu }) {
  const { value, error, reload } = useResource(() => api.gpuHealth(gpu.id), [gpu.id, gpu.health_since]);
  return (
    <section class="card" aria-label="Health">
      <h3>Health</h3>
      {error !== null && <Failed message={error} onRetry={reload} />}
      {value === undefined && error === null && <Loading label="Loading the history of its health" />}
      {value && <HealthList changes={value} />}
    </section>
  );
}

export function HealthList({ changes }: { readonly changes: readonly GpuHealth[] }) {
  if (changes.length === 0) return <p class="small muted">It has been healthy since the pool knows it.</p>;
  return (
    <ul class="pool-history">
      {changes.map((change) => (
        <li key={change.id} class="small">
          <span class="num faint nowrap">{clock(unixSeconds(change.at))}</span>
          <span>
            <b class={`health-word ${change.health}`}>{change.health}</b>
            {change.causes.length > 0 && `: ${change.causes.join("; ")}`}
            {change.remedy !== "none" && <span>. Recommended: {change.remedy}</span>}
            <span class="muted block">
              {counterTexts(change.faults).join(" · ") || "its driver counted nothing"}
              {change.run_name && ", during "}
              {change.run_id === null ? change.run_name : <a href={`/runs/${change.run_id}`}>{change.run_name}</a>}
            </span>
          </span>
        </li>
      ))}
    </ul>
  );
}
