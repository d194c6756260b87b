/** What a run leaves behind: LoRA files to download, checkpoints it can resume from, own prompts tried on the result. */

import { useState } from "preact/hooks";
import { api } from "../../api/endpoints.ts";
import { getPath } from "../../base/paths.ts";
import { bytes, number } from "../../base/format.ts";
import { CopyButton } from "../../ui/controls.tsx";
import { useResource } from "../../ui/resource.ts";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import type { RunProps } from "./context.ts";
import { TryPrompts } from "./try_prompts.tsx";

export function CheckpointsTab(props: RunProps) {
  return (
    <div class="stack">
      <Adapters {...props} />
      <TryPrompts {...props} />
      <Checkpoints {...props} />
    </div>
  );
}

const LOAD_CODE = `from diffusers import FluxPipeline

pipeline = FluxPipeline.from_pretrained("<base model>")
pipeline.load_lora_weights("<downloaded file>")`;

/** Runs that checkpoint every batch have many. */
const FIRST_SHOWN = 6;

function Adapters({ store, run }: RunProps) {
  const [numShown, setNumShown] = useState(FIRST_SHOWN);
  const adapters = useResource(() => api.adapters(run.id), [run.id, store.filesVersion.value]);
  const evaluations = store.metrics.curves.get("eval/reward");
  const rewardAt = (batch: number) => evaluations?.value[evaluations.batch.indexOf(batch)];
  return (
    <section class="card" aria-label="LoRA files">
      <div class="card-head"><h2>LoRA files</h2><span class="tiny faint">diffusers format, safetensors</span></div>
      {adapters.error !== null && <Failed message={adapters.error} onRetry={adapters.reload} />}
      {adapters.value === undefined && adapters.error === null && <Loading />}
      {adapters.value?.length === 0 && <Empty title="No LoRA yet">One is exported when the run ends or is stopped.</Empty>}
      {adapters.value && adapters.value.length > 0 && (
        <div class="table-wrap">
          <table>
            <thead><tr><th>Batch</th><th>Version</th><th class="right">Held-out reward</th><th class="right">Size</th><th>SHA-256</th><th /></tr></thead>
            <tbody>
              {adapters.value.slice(0, numShown).map((adapter) => (
                <tr key={adapter.url}>
                  <td class="num">{adapter.batch} {adapter.final && <span class="tag on">final</span>}</td>
                  <td class="num">v{adapter.policy_version}</td>
                  <td class="right num">{number(rewardAt(adapter.batch))}</td>
                  <td class="right num nowrap">{bytes(adapter.num_bytes)}</td>
                  <td class="mono" title={adapter.sha256}>{adapter.sha256.slice(0, 12)}</td>
                  <td class="right"><a class="button small primary" href={adapter.url} download>Download</a></td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {adapters.value && adapters.value.length > numShown && (
        <button type="button" class="button small" onClick={() => setNumShown(Infinity)}>Show earlier ({adapters.value.length - numShown} more)</button>
      )}
      {adapters.value && adapters.value.length > 0 && (
        <details class="small load-code">
          <summary>How to load it</summary>
          <div class="row-between"><pre class="code">{LOAD_CODE}</pre><CopyButton text={LOAD_CODE} /></div>
        </details>
      )}
    </section>
  );
}

function Checkpoints({ store, run }: RunProps) {
  const checkpoints = useResource(() => api.checkpoints(run.id), [run.id, store.filesVersion.value]);
  const numKept = Number(getPath(run.spec, "checkpoint.num_kept"));
  const numDeleted = (checkpoints.value?.length ?? 0) - numKept;
  return (
    <section class="card" aria-label="Checkpoints">
      <div class="card-head">
        <h2>Resumable checkpoints</h2>
        <span class="tiny faint">kept on the checkpoint store; a lost run goes on from the newest</span>
      </div>
      {checkpoints.error !== null && <Failed message={checkpoints.error} onRetry={checkpoints.reload} />}
      {checkpoints.value === undefined && checkpoints.error === null && <Loading />}
      {checkpoints.value?.length === 0 && <Empty title="No checkpoint yet">They are written on the cadence of the spec, and by “Checkpoint now”.</Empty>}
      {checkpoints.value && checkpoints.value.length > 0 && (
        <div class="table-wrap">
          <table>
            <thead><tr><th>Batch</th><th>Version</th><th>Optimizer step</th><th>Attempt</th><th class="right">Size</th><th>Place</th></tr></thead>
            <tbody>
              {checkpoints.value.slice(0, numKept).map((checkpoint) => (
                <tr key={checkpoint.uri}>
                  <td class="num">{checkpoint.batch}</td>
                  <td class="num">v{checkpoint.policy_version}</td>
                  <td class="num">{checkpoint.optimizer_step}</td>
                  <td class="num">{checkpoint.attempt}</td>
                  <td class="right num nowrap">{bytes(checkpoint.num_bytes)}</td>
                  <td class="mono uri">{checkpoint.uri}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {numDeleted > 0 && <p class="tiny faint">{numDeleted} older {numDeleted === 1 ? "one was" : "ones were"} deleted: the spec keeps {numKept}.</p>}
    </section>
  );
}
