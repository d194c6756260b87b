/** The sweeps of the user's projects, newest first, live. */

import { api } from "../../api/endpoints.ts";
import type { BestPoint, ListedSweep } from "../../api/schema.ts";
import { seconds } from "../../base/clock.ts";
import { ago, number, unixSeconds } from "../../base/format.ts";
import { useProjectChanges } from "../../live/project_changes.ts";
import { chosenProject } from "../../shell/project_choice.ts";
import { LiveBadge } from "../../ui/live_badge.tsx";
import { useResource } from "../../ui/resource.ts";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { costText, pointText } from "./sweep_words.ts";

const [AFTER_CHANGE_MILLISECONDS, REFRESH_MILLISECONDS] = [4000, 20_000];

export function SweepsPage() {
  const project = chosenProject.value ?? undefined;
  const sweeps = useResource(() => api.sweeps(project), [project]);
  const { connection, heardAt } = useProjectChanges({
    readAgain: sweeps.reload,
    afterMilliseconds: AFTER_CHANGE_MILLISECONDS,
    everyMilliseconds: REFRESH_MILLISECONDS,
  });
  return (
    <>
      <div class="page-head">
        <div class="row">
          <h1>
            Sweeps
            {sweeps.value && <span class="count">{sweeps.value.length}</span>}
          </h1>
          <LiveBadge connection={connection} heardAt={heardAt} />
        </div>
        <a class="button primary" href="/sweeps/new">
          New sweep
        </a>
      </div>
      {sweeps.error !== null && <Failed message={sweeps.error} onRetry={sweeps.reload} />}
      {!sweeps.value && sweeps.error === null && <Loading />}
      {sweeps.value?.length === 0 && (
        <section class="card">
          <Empty
            title="No sweeps yet"
            action={
              <a class="button" href="/sweeps/new">
                Start the first one
              </a>
            }
          >
            A sweep runs many settings and seeds, ends those that fall behind at equal samples, and keeps to a budget.
          </Empty>
        </section>
      )}
      {sweeps.value && sweeps.value.length > 0 && <SweepTable sweeps={sweeps.value} />}
    </>
  );
}

function SweepTable({ sweeps }: { sweeps: readonly ListedSweep[] }) {
  return (
    <section class="card flush" aria-label="Sweeps">
      <div class="table-wrap">
        <table class="sweeps-table">
          <thead>
            <tr>
              <th>Sweep</th>
              <th>State</th>
              <th>Runs</th>
              <th class="right">Points</th>
              <th class="right">Pruned</th>
              <th class="right">Best</th>
              <th class="right">GPU-hours</th>
              <th>Project</th>
              <th>Created</th>
            </tr>
          </thead>
          <tbody>
            {sweeps.map((sweep) => (
              <tr key={sweep.id} class="link">
                <td>
                  <a class="run-name" href={`/sweeps/${sweep.id}`}>
                    {sweep.name}
                  </a>
                  {sweep.reason && <span class="point-why tiny muted">{sweep.reason}</span>}
                </td>
                <td>
                  <span class={`pill ${sweep.state}`}>{sweep.state}</span>
                </td>
                <td class="num">
                  <RunsBar sweep={sweep} />
                </td>
                <td class="right num">{number(sweep.num_points)}</td>
                <td class="right num">{number(sweep.num_pruned)}</td>
                <td class="right num nowrap">{sweep.best && <Best best={sweep.best} />}</td>
                <td class="right num nowrap">{costText(sweep)}</td>
                <td>{sweep.project.name}</td>
                <td class="nowrap muted">{ago(seconds.value - (unixSeconds(sweep.created_at) ?? 0))}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

/** The best value, and the settings that gave it. */
function Best({ best }: { best: BestPoint }) {
  return (
    <a href={`/runs/${best.run}`} title={pointText(best)}>
      {number(best.value)} <span class="tiny muted">#{best.number}</span>
    </a>
  );
}

/** Runs that have ended and that work, of all. */
function RunsBar({ sweep }: { sweep: ListedSweep }) {
  const share = (count: number) => ({ width: `${(100 * count) / Math.max(1, sweep.num_runs)}%` });
  return (
    <span class="sweep-runs">
      <span
        class="sweep-bar"
        role="progressbar"
        aria-label="runs ended"
        aria-valuenow={sweep.num_runs_ended}
        aria-valuemin={0}
        aria-valuemax={sweep.num_runs}
      >
        <i class="ended" style={share(sweep.num_runs_ended)} />
        <i class="live" style={share(sweep.num_runs_live)} />
      </span>
      <span class="tiny muted">
        {number(sweep.num_runs_ended)} of {number(sweep.num_runs)}
      </span>
    </span>
  );
}
