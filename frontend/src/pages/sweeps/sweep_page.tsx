/** One sweep, live: parallel coordinates, the best so far over its cost, the spread over seeds, and all points. */

import { useMemo, useState } from "preact/hooks";
import { api } from "../../api/endpoints.ts";
import type { RunRow, Sweep } from "../../api/schema.ts";
import { seconds } from "../../base/clock.ts";
import { ago, number, unixSeconds } from "../../base/format.ts";
import { useProjectChanges } from "../../live/project_changes.ts";
import { Confirm } from "../../ui/dialog.tsx";
import { LiveBadge } from "../../ui/live_badge.tsx";
import { useResource } from "../../ui/resource.ts";
import { Stat, Stats } from "../../ui/stat.tsx";
import { Failed, Loading } from "../../ui/states.tsx";
import { attempt } from "../../ui/toasts.tsx";
import { BestChart } from "./best_chart.tsx";
import { axesOf, type Brushes, isWithin } from "./parallel_axes.ts";
import { ParallelPlot } from "./parallel_plot.tsx";
import { PointTable } from "./point_table.tsx";
import { SeedSpread } from "./seed_spread.tsx";
import { isOnCpu, pointText } from "./sweep_words.ts";

/** Runs report by the second, and a sweep is read whole; prunes and new runs come without a change of a known run. */
const [AFTER_CHANGE_MILLISECONDS, REFRESH_MILLISECONDS] = [4000, 15_000];

export function SweepPage({ sweepId }: { sweepId: string }) {
  const sweep = useResource(() => api.sweep(sweepId), [sweepId]);
  const shown = sweep.value;
  const ids = useMemo(() => new Set(shown?.points.flatMap(({ runs }) => runs.map(({ id }) => id))), [shown]);
  const concerns = (run: RunRow) => ids.has(run.id) || run.name.startsWith(`${shown?.name} #`);
  const { connection, heardAt } = useProjectChanges({
    readAgain: sweep.reload,
    afterMilliseconds: AFTER_CHANGE_MILLISECONDS,
    everyMilliseconds: REFRESH_MILLISECONDS,
    concerns,
  });
  if (!shown) return sweep.error ? <Failed message={sweep.error} onRetry={sweep.reload} /> : <Loading />;
  return (
    <div class="stack">
      {sweep.error !== null && <Failed message={sweep.error} onRetry={sweep.reload} />}
      <Head
        sweep={shown}
        live={shown.ended_at === null && <LiveBadge connection={connection} heardAt={heardAt} />}
        onChanged={sweep.reload}
      />
      <Content sweep={shown} />
    </div>
  );
}

function Content({ sweep }: { sweep: Sweep }) {
  const [brushes, setBrushes] = useState<Brushes>(new Map());
  const [selected, setSelected] = useState<number | null>(null);
  const axes = useMemo(() => axesOf(sweep), [sweep]);
  return (
    <>
      <Figures sweep={sweep} />
      <section class="card" aria-label="Parallel coordinates">
        <div class="card-head">
          <h2>Settings and {sweep.plan.objective.metric}</h2>
          <div class="row">
            {brushes.size > 0 && (
              <button type="button" class="button small" onClick={() => setBrushes(new Map())}>
                Let all in
              </button>
            )}
            <span class="good-scale tiny faint">
              worst <i /> best
            </span>
          </div>
        </div>
        <ParallelPlot
          {...{ sweep, axes, brushes, selected }}
          onSelect={setSelected}
          onBrush={(axis, brush) => {
            const next = new Map(brushes);
            if (brush === null) next.delete(axis);
            else next.set(axis, brush);
            setBrushes(next);
          }}
        />
      </section>
      <div class="grid-2">
        <BestChart sweep={sweep} />
        <SeedSpread sweep={sweep} selected={selected} onSelect={setSelected} />
      </div>
      <PointTable
        sweep={sweep}
        isShown={(point) => isWithin(point, axes, brushes)}
        selected={selected}
        onSelect={setSelected}
      />
    </>
  );
}

interface HeadProps {
  readonly sweep: Sweep;
  readonly live: preact.ComponentChildren;
  readonly onChanged: () => void;
}

function Head({ sweep, live, onChanged }: HeadProps) {
  const [asks, setAsks] = useState(false);
  const mayEdit = sweep.project.role !== "viewer" && sweep.project.role !== null;
  const hasEnded = sweep.ended_at !== null;
  const stop = () =>
    void attempt(async () => {
      await api.stopSweep(sweep.id);
      onChanged();
    }, "Its runs are stopping.");
  const remove = () =>
    void attempt(async () => {
      await api.deleteSweep(sweep.id);
      location.assign("/sweeps");
    });
  const created = unixSeconds(sweep.created_at) ?? 0;
  return (
    <div class="stack-s">
      <div class="page-head sweep-head">
        <div class="row">
          <h1 class="truncate">{sweep.name}</h1>
          <span class={`pill ${sweep.state}`}>{sweep.state}</span>
          {live}
        </div>
        {mayEdit && (
          <div class="row">
            <a class="button" href={`/sweeps/new?again=${sweep.id}`}>
              Edit and run again
            </a>
            <button type="button" class="button" disabled={sweep.state === "stopping"} onClick={() => setAsks(true)}>
              {hasEnded ? "Delete" : "Stop"}
            </button>
          </div>
        )}
      </div>
      <p class="tiny faint">
        {sweep.project.name} · by {sweep.created_by ?? "a deleted account"} · {ago(seconds.value - created)}
        {sweep.parent !== null && (
          <>
            {" "}
            · from <a href={`/runs/${sweep.parent}`}>a run</a>
          </>
        )}
      </p>
      {sweep.reason && (
        <p class="notice warn small">
          {hasEnded ? "Ended early" : "No more runs start"}: {sweep.reason}.
        </p>
      )}
      {sweep.num_invalid_draws > 0 && (
        <p class="notice small">
          {sweep.num_invalid_draws} random {sweep.num_invalid_draws === 1 ? "draw was" : "draws were"} invalid and
          replaced. The first: {sweep.invalid_draw}
        </p>
      )}
      {asks && (
        <Confirm
          title={`${hasEnded ? "Delete" : "Stop"} “${sweep.name}”?`}
          text={
            hasEnded
              ? "Its points and reports are deleted. Its runs stay, and forget that they were part of it."
              : "Its runs stop with a checkpoint and an adapter, and no more start."
          }
          action={hasEnded ? "Delete the sweep" : "Stop the sweep"}
          onConfirm={hasEnded ? remove : stop}
          onClose={() => setAsks(false)}
        />
      )}
    </div>
  );
}

function Figures({ sweep }: { sweep: Sweep }) {
  const { best } = sweep;
  const { plan } = sweep;
  const pruner =
    plan.pruner.kind === "none"
      ? "no pruner"
      : `from ${number(plan.pruner.min_samples)} samples on, 1 in ${plan.pruner.reduction_factor} goes on`;
  return (
    <Stats label="The sweep in figures">
      <Stat
        label="Best"
        definition={`Mean over its seeds of the newest ${plan.objective.metric}; ${plan.objective.maximise ? "greater" : "less"} is better.`}
        value={best ? number(best.value) : null}
        note={best && `#${best.number}: ${pointText(best)}`}
        tone="good"
      />
      <Stat
        label="Runs"
        definition="Runs that have ended, of all points with all seeds."
        value={number(sweep.num_runs_ended)}
        unit={`of ${number(sweep.num_runs)}`}
        note={`${sweep.num_runs_live} at work, ${plan.max_parallel_runs} at most`}
      />
      <Stat
        label="Pruned"
        definition="Points that were ended at a rung, because others were better after as many samples."
        value={number(sweep.num_pruned)}
        unit={`of ${number(sweep.num_points)} points`}
        note={pruner}
      />
      <Stat
        label="GPU-hours"
        definition="GPU-hours of the lanes that its runs held. CPU lanes cost none."
        value={number(sweep.gpu_hours)}
        unit={plan.budget_gpu_hours === null ? undefined : `of ${number(plan.budget_gpu_hours)}`}
        note={
          isOnCpu(sweep)
            ? `${number(sweep.lane_hours)} hours of CPU lanes`
            : plan.budget_gpu_hours === null && "no budget"
        }
      />
    </Stats>
  );
}
