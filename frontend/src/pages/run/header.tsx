/** Name, state, how old the data is, and what can be done with the run now. */

import type { TargetedSubmitEvent } from "preact";
import { useState } from "preact/hooks";
import { api } from "../../api/endpoints.ts";
import type { Run } from "../../api/schema.ts";
import { seconds } from "../../base/clock.ts";
import { ago, duration, roughly, unixSeconds } from "../../base/format.ts";
import type { RunStore } from "../../live/run_store.ts";
import { Progress, StatePill } from "../../ui/controls.tsx";
import { Icon } from "../../ui/icon.tsx";
import { LiveBadge } from "../../ui/live_badge.tsx";
import { attempt } from "../../ui/toasts.tsx";
import { Actions } from "./actions.tsx";
import { mayEdit, type RunProps } from "./context.ts";
import { MirrorLinks } from "./mirror_links.tsx";

/** A driver posts at least every 2 s; beyond this the run is called silent. */
const SILENT_AFTER_SECONDS = 8;

/** The line that stays at the top while the page scrolls, and below it where the run comes from. */
export function RunHeader({ store, run }: RunProps) {
  return (
    <>
      <header class="run-head">
        <div class="run-bar">
          <div class="run-title">
            <Name store={store} run={run} />
            <StatePill state={run.state} />
            {run.archived_at && <span class="tag">archived</span>}
            <DataAge store={store} run={run} />
          </div>
          <ProgressBox store={store} run={run} />
        </div>
        <Actions store={store} run={run} />
      </header>
      <Origin run={run} />
    </>
  );
}

function Origin({ run }: { run: Run }) {
  const created = unixSeconds(run.created_at) ?? 0;
  return (
    <p class="run-origin tiny faint">
      <a href={`/runs?project=${run.project.id}`}>{run.project.name}</a> · by {run.created_by ?? "a deleted account"} ·{" "}
      {ago(seconds.value - created)}
      {run.attempt > 1 && ` · attempt ${run.attempt} of ${run.max_attempts}`}
      {run.sweep && (
        <>
          {" "}
          · point {run.sweep.point} of the sweep <a href={`/sweeps/${run.sweep.id}`}>{run.sweep.name}</a>
        </>
      )}
      {run.parent && (
        <>
          {" "}
          · {run.forked_batch === null ? "from" : `forked at batch ${run.forked_batch} from`}{" "}
          <a href={`/runs/${run.parent}`}>another run</a>
        </>
      )}
      <MirrorLinks run={run} />
    </p>
  );
}

function Name({ store, run }: RunProps) {
  const [editing, setEditing] = useState(false);
  if (!editing) {
    return (
      <h1>
        <span class="truncate" title={run.name}>
          {run.name}
        </span>
        {mayEdit(run) && (
          <button type="button" class="button quiet small" aria-label="Rename the run" onClick={() => setEditing(true)}>
            <Icon name="edit" />
          </button>
        )}
      </h1>
    );
  }
  const save = async (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const name = String(new FormData(event.currentTarget).get("name")).trim();
    if (name && name !== run.name && !(await attempt(() => api.patchRun(run.id, { name }), "Renamed."))) return;
    setEditing(false);
    await store.refreshRun();
  };
  return (
    <form class="row" onSubmit={(event) => void save(event)}>
      <input
        name="name"
        aria-label="Run name"
        defaultValue={run.name}
        maxLength={120}
        autoFocus
        onKeyDown={(event) => event.key === "Escape" && setEditing(false)}
      />
      <button type="submit" class="button small primary">
        Save
      </button>
    </form>
  );
}

/** "final", "live", "silent for N s", "reconnecting": a reader must know how old what they see is, and whose fault. */
function DataAge({ store, run }: RunProps) {
  if (store.hasEnded.value && store.connection.value !== "reconnecting")
    return (
      <span class="badge final" role="status">
        final
      </span>
    );
  return (
    <LiveBadge
      connection={store.connection.value}
      heardAt={store.heardAt.value}
      stale={run.state === "queued" ? null : silence(store, run)}
      title="Live while the run reports, which it does at least every 2 s"
    />
  );
}

/** How long the run had not reported when the connection was last known to hold, in words; null while it does. */
function silence(store: RunStore, run: Run): string | null {
  const reported = Math.max(unixSeconds(run.last_heartbeat_at) ?? 0, store.lastReport.value);
  const silent = store.heardAt.value - reported;
  return reported > 0 && silent > SILENT_AFTER_SECONDS ? `run silent for ${duration(Math.floor(silent))}` : null;
}

function ProgressBox({ store, run }: RunProps) {
  const started = unixSeconds(run.started_at);
  const ended = unixSeconds(run.ended_at);
  const elapsed = started === null ? null : (ended ?? seconds.value) - started;
  const perBatch = meanOfLast(store.metrics.version.value, store);
  const left = run.num_batches - run.num_batches_done;
  const showLeft = run.state === "running" && perBatch !== null && left > 0;
  return (
    <div class="run-progress">
      <div class="row-between small num">
        <span>
          <b>{run.num_batches_done}</b> / {run.num_batches} <span class="run-progress-unit">batches</span>
        </span>
        {/* Beside all buttons there is room for one of the two. */}
        <span class="muted" title={elapsed === null ? undefined : `${duration(elapsed)} since it started`}>
          {showLeft ? `about ${roughly(left * perBatch)} left` : elapsed !== null && duration(elapsed)}
        </span>
      </div>
      <Progress done={run.num_batches_done} total={run.num_batches} />
    </div>
  );
}

const BATCHES_AVERAGED = 8;

function meanOfLast(_version: number, store: RunStore): number | null {
  const recent = store.metrics.curve("speed/batch_seconds")?.value.slice(-BATCHES_AVERAGED) ?? [];
  return recent.length === 0 ? null : recent.reduce((sum, value) => sum + value, 0) / recent.length;
}
