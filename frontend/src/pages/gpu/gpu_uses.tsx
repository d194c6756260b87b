/** Who used a GPU: runs, previews and tests, newest first. */

import { api } from "../../api/endpoints.ts";
import type { GpuUse, PoolGpu, PoolLane } from "../../api/schema.ts";
import { seconds } from "../../base/clock.ts";
import { clock, duration, unixSeconds } from "../../base/format.ts";
import { usePages } from "../../ui/more.ts";
import { Empty, Failed, Loading } from "../../ui/states.tsx";

export function GpuUses({ gpu, lane }: { readonly gpu: PoolGpu; readonly lane: PoolLane | undefined }) {
  // Another holder means another row.
  const {
    rows: uses,
    first,
    more,
  } = usePages((cursor) => api.gpuUses(gpu.id, cursor), [gpu.id, lane?.held_since, lane?.role]);
  return (
    <section class="card flush" aria-label="Who used it">
      <div class="card-head">
        <h2>Who used it</h2>
      </div>
      {first.error !== null && <Failed message={first.error} onRetry={first.reload} />}
      {first.value === undefined && first.error === null && <Loading label="Loading the uses" />}
      {first.value && uses.length === 0 && <Empty title="Nobody yet">Runs, previews and tests are listed here.</Empty>}
      {uses.length > 0 && <Uses uses={uses} />}
      {more && (
        <p class="card-foot">
          <button type="button" class="button small" onClick={() => void more()}>
            Show earlier ones
          </button>
        </p>
      )}
    </section>
  );
}

export function Uses({ uses }: { readonly uses: readonly GpuUse[] }) {
  return (
    <div class="table-wrap">
      <table>
        <thead>
          <tr>
            <th>Run</th>
            <th>Project</th>
            <th>Who</th>
            <th>Role</th>
            <th>From</th>
            <th>Until</th>
            <th class="right">For</th>
          </tr>
        </thead>
        <tbody>
          {uses.map((use) => {
            const [since, until] = [unixSeconds(use.since), unixSeconds(use.until)];
            return (
              <tr key={use.id}>
                <td>
                  {use.run_id === null ? use.run_name || "–" : <a href={`/runs/${use.run_id}`}>{use.run_name}</a>}
                </td>
                <td>{use.project || "–"}</td>
                <td>{use.user || "–"}</td>
                <td>{use.role}</td>
                <td class="num nowrap">{clock(since, false)}</td>
                <td class="num nowrap">{until === null ? "now" : clock(until, false)}</td>
                <td class="right num nowrap">{duration((until ?? seconds.value) - (since ?? 0))}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
