/** What a run saves: versions to download, previews with own prompts, checkpoints that it can resume from. */

import { api } from "../../api/endpoints.ts";
import { bytes } from "../../base/format.ts";
import { useResource } from "../../ui/resource.ts";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { Adapters } from "./adapters.tsx";
import type { RunProps } from "./context.ts";
import { Previews } from "./previews.tsx";

export function CheckpointsTab(props: RunProps) {
  return (
    <div class="stack">
      <Adapters {...props} />
      <Previews {...props} />
      <Checkpoints {...props} />
    </div>
  );
}

function Checkpoints({ store, run }: RunProps) {
  const checkpoints = useResource(() => api.checkpoints(run.id), [run.id, store.filesVersion.value]);
  const numKept = run.spec.checkpoint.num_kept;
  const numDeleted = (checkpoints.value?.length ?? 0) - numKept;
  return (
    <section class="card" aria-label="Checkpoints">
      <div class="card-head">
        <h2>Resumable checkpoints</h2>
        <span class="tiny faint">kept on the checkpoint store; a lost run goes on from the newest</span>
      </div>
      {checkpoints.error !== null && <Failed message={checkpoints.error} onRetry={checkpoints.reload} />}
      {checkpoints.value === undefined && checkpoints.error === null && <Loading />}
      {checkpoints.value?.length === 0 && (
        <Empty title="No checkpoint yet">They are written on the cadence of the spec, and by “Checkpoint now”.</Empty>
      )}
      {checkpoints.value && checkpoints.value.length > 0 && (
        <div class="table-wrap">
          <table>
            <thead>
              <tr>
                <th>Batch</th>
                <th>Version</th>
                <th>Optimizer step</th>
                <th>Attempt</th>
                <th class="right">Size</th>
                <th>Address</th>
              </tr>
            </thead>
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
      {numDeleted > 0 && (
        <p class="tiny faint">
          {numDeleted} older {numDeleted === 1 ? "one was" : "ones were"} deleted: the spec keeps {numKept}.
        </p>
      )}
    </section>
  );
}
