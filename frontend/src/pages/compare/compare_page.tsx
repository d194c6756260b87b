/** Several runs side by side: overlaid curves, results in numbers, and only the settings that differ. */

import { useMemo, useState } from "preact/hooks";
import { api } from "../../api/endpoints.ts";
import { duration, number, unixSeconds } from "../../base/format.ts";
import { Chart, type Line } from "../../charts/chart.tsx";
import { Legend } from "../../charts/panel.tsx";
import { curveTitle } from "../../charts/panels.ts";
import { type ChartChoice, ChartTools, useChartView } from "../../charts/tools.tsx";
import { StatePill } from "../../ui/controls.tsx";
import { useResource } from "../../ui/resource.ts";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { type ComparedRun, metricsOf, overlaid, readRun } from "./compared_run.ts";
import { DifferingSettings } from "./differing_settings.tsx";
import { HeldOutSamples } from "./held_out_samples.tsx";

function idsFromAddress(): string[] {
  return (new URLSearchParams(location.search).get("runs") ?? "").split(",").filter(Boolean);
}

export function ComparePage() {
  const [ids, setIds] = useState(idsFromAddress);
  const compared = useResource(() => Promise.all(ids.map(readRun)), [ids.join(",")]);
  const change = (next: string[]) => {
    history.replaceState(null, "", `/compare?runs=${next.join(",")}`);
    setIds(next);
  };
  return (
    <div class="stack">
      <div class="page-head" style={{ marginBottom: 0 }}>
        <h1>Compare runs</h1>
        <AddRun chosen={ids} onAdd={(id) => change([...ids, id])} />
      </div>
      {compared.error !== null && <Failed message={compared.error} onRetry={compared.reload} />}
      {compared.value === undefined && compared.error === null && <Loading />}
      {compared.value && (
        <>
          <RunCards runs={compared.value} onRemove={(id) => change(ids.filter((one) => one !== id))} />
          {compared.value.length === 1 && <p class="notice">Choose another run to compare with, above.</p>}
          {compared.value.length === 0 && (
            <Empty title="No runs chosen">Choose runs above, or tick them in the list of runs.</Empty>
          )}
          {compared.value.length > 0 && <Curves runs={compared.value} />}
          {compared.value.length > 1 && <HeldOutSamples runs={compared.value} />}
          {compared.value.length > 1 && <DifferingSettings runs={compared.value} />}
        </>
      )}
    </div>
  );
}

function AddRun({ chosen, onAdd }: { chosen: readonly string[]; onAdd: (id: string) => void }) {
  const runs = useResource(() => api.listRuns({}), []);
  const others = (runs.value?.results ?? []).filter((run) => !chosen.includes(run.id));
  return (
    <select
      aria-label="Add a run"
      value=""
      style={{ width: "260px" }}
      onChange={(event) => event.currentTarget.value && onAdd(event.currentTarget.value)}
    >
      <option value="">Add a run…</option>
      {others.map((run) => (
        <option key={run.id} value={run.id}>
          {run.name} ({run.state})
        </option>
      ))}
    </select>
  );
}

function RunCards({ runs, onRemove }: { runs: readonly ComparedRun[]; onRemove: (id: string) => void }) {
  return (
    <ul class="compare-cards">
      {runs.map(({ run, colour, curves }) => {
        const evaluated = curves.get("eval/reward")?.value ?? [];
        const started = unixSeconds(run.started_at);
        const ended = unixSeconds(run.ended_at);
        return (
          <li key={run.id} class="card" style={{ borderTop: `3px solid var(${colour})` }}>
            <div class="row-between">
              <a class="run-name truncate" href={`/runs/${run.id}`}>
                {run.name}
              </a>
              <button
                type="button"
                class="button quiet small"
                aria-label={`Remove ${run.name}`}
                onClick={() => onRemove(run.id)}
              >
                ✕
              </button>
            </div>
            <div class="row small">
              <StatePill state={run.state} />
              <span class="num muted">
                {run.num_batches_done} / {run.num_batches} batches
              </span>
            </div>
            <p class="figure">
              <b class="num">
                {number(evaluated[0])}
                <span class="arrow">→</span>
                {number(evaluated.at(-1))}
              </b>
              <span class="tiny faint">
                held-out reward{started !== null && ended !== null && ` · took ${duration(ended - started)}`}
              </span>
            </p>
          </li>
        );
      })}
    </ul>
  );
}

function Curves({ runs }: { runs: readonly ComparedRun[] }) {
  const [choice, setChoice] = useChartView();
  const keys = useMemo(() => metricsOf(runs), [runs]);
  return (
    <div class="stack">
      <ChartTools choice={choice} onChange={setChoice} />
      <div class="charts">
        {keys.map((key) => (
          <Overlay key={key} metric={key} runs={runs} choice={choice} />
        ))}
      </div>
    </div>
  );
}

function Overlay({ metric, runs, choice }: { metric: string; runs: readonly ComparedRun[]; choice: ChartChoice }) {
  const [cursor, setCursor] = useState<number | null>(null);
  const { having, columns } = useMemo(() => overlaid(runs, metric, choice), [runs, metric, choice]);
  const lines = having.map(({ run, colour }): Line => ({ label: run.name, colour }));
  return (
    <section class="card chart-card" aria-label={metric}>
      <div class="chart-head">
        <h3 title={metric}>{curveTitle(metric)}</h3>
        <Legend lines={lines} data={columns.lines} cursor={cursor} unnamed />
      </div>
      <Chart
        lines={lines}
        data={columns}
        axis={choice.axis}
        height={190}
        syncKey="compare"
        smoothed={choice.smoothing > 0}
        onCursor={setCursor}
      />
    </section>
  );
}
