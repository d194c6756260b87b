/** Resizes of the run, newest first: who asked, how far each lane is, and what it took. */

import { api } from "../../api/endpoints.ts";
import type { RecordedResize } from "../../api/schema.ts";
import { seconds } from "../../base/clock.ts";
import { ago, unixSeconds } from "../../base/format.ts";
import { progressText, secondsText } from "../../base/resize_words.ts";
import { useResource } from "../../ui/resource.ts";
import { Failed } from "../../ui/states.tsx";
import type { RunProps } from "./context.ts";

export function ResizePanel({ store, run }: RunProps) {
  const size = useResource(() => api.size(run.id), [run.id, store.sizeVersion.value]);
  if (size.error !== null) return <Failed message={size.error} onRetry={size.reload} />;
  if (!size.value || size.value.resizes.length === 0) return null;
  return <ResizeHistory resizes={size.value.resizes} />;
}

function ResizeHistory({ resizes }: { resizes: readonly RecordedResize[] }) {
  return (
    <section class="card flush" aria-label="Resizes">
      <div class="table-wrap">
        <table class="resize-history">
          <thead>
            <tr>
              <th>Resize</th>
              <th>Lanes</th>
            </tr>
          </thead>
          <tbody>
            {resizes.map((resize) => (
              <tr key={resize.id}>
                <td>
                  {resize.state}
                  <p class="tiny muted">
                    {ago(seconds.value - (unixSeconds(resize.created_at) ?? 0))}, {askedBy(resize)}
                  </p>
                </td>
                <td>
                  {progressText(resize.lanes) || "waiting for the driver"}
                  {resize.trainer_seconds && <p class="tiny muted">{secondsText(resize.trainer_seconds)}</p>}
                  {resize.reason && <p class="tiny bad">{resize.reason}</p>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

const CAUSES: Readonly<Record<RecordedResize["cause"], string>> = {
  user: "by a deleted account",
  plan: "by a new plan",
  drain: "off what is drained or has failed",
  borrow: "since lanes were idle",
  reclaim: "since another run is entitled",
  idle: "by the pool, since they did nothing",
};

function askedBy({ cause, requested_by }: RecordedResize): string {
  return requested_by === null ? CAUSES[cause] : `by ${requested_by}`;
}
