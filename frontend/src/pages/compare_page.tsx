/** Several runs side by side: overlaid curves, results in numbers, and only the settings that differ. */

import { useMemo, useState } from "preact/hooks";
import { api } from "../api/endpoints.ts";
import type { Run } from "../api/schema.ts";
import { duration, number, unixSeconds } from "../base/format.ts";
import { differences, isObject, type Json } from "../base/paths.ts";
import { smooth } from "../base/smoothing.ts";
import { inWords } from "../base/spec_words.ts";
import { type Drawn, drawn, join, xValues } from "../charts/axis.ts";
import { Chart, type Line } from "../charts/chart.tsx";
import { Legend } from "../charts/panel.tsx";
import { curveTitle, METRIC_PANELS } from "../charts/panels.ts";
import { type ChartChoice, ChartTools, useChartView } from "../charts/tools.tsx";
import { type Curve, curveOf } from "../live/metric_store.ts";
import { StatePill } from "../ui/controls.tsx";
import { useResource } from "../ui/resource.ts";
import { Empty, Failed, Loading } from "../ui/states.tsx";
import { CompareSamples } from "./compare_samples.tsx";

interface Compared {
  readonly run: Run;
  readonly curves: ReadonlyMap<string, Curve>;
  readonly colour: string;
}

const NUM_COLOURS = 6;

async function readRun(id: string, index: number): Promise<Compared> {
  const [run, metrics] = await Promise.all([api.getRun(id), api.metrics(id)]);
  const curves = new Map(Object.entries(metrics.series).map(([key, series]) => [key, curveOf(series)]));
  return { run, curves, colour: `--series-${(index % NUM_COLOURS) + 1}` };
}

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
          {compared.value.length > 1 && <CompareSamples runs={compared.value} />}
          {compared.value.length > 1 && <SpecDifferences runs={compared.value} />}
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

function RunCards({ runs, onRemove }: { runs: readonly Compared[]; onRemove: (id: string) => void }) {
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

function Curves({ runs }: { runs: readonly Compared[] }) {
  const [choice, setChoice] = useChartView();
  const keys = useMemo(() => {
    const known = new Set(runs.flatMap((compared) => [...compared.curves.keys()]));
    const curated = METRIC_PANELS.flatMap((panel) => panel.keys).filter((key) => known.has(key));
    return [...new Set([...curated, ...[...known].sort()])];
  }, [runs]);
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

function Overlay({ metric, runs, choice }: { metric: string; runs: readonly Compared[]; choice: ChartChoice }) {
  const [cursor, setCursor] = useState<number | null>(null);
  const having = runs.filter((compared) => compared.curves.has(metric));
  const data = useMemo(() => overlay(having, metric, choice), [runs, metric, choice]);
  const lines = having.map(({ run, colour }): Line => ({ label: run.name, colour }));
  return (
    <section class="card chart-card" aria-label={metric}>
      <div class="chart-head">
        <h3 title={metric}>{curveTitle(metric)}</h3>
        <Legend lines={lines} data={data.lines} cursor={cursor} unnamed />
      </div>
      <Chart
        lines={lines}
        data={data}
        axis={choice.axis}
        height={190}
        syncKey="compare"
        smoothed={choice.smoothing > 0}
        onCursor={setCursor}
      />
    </section>
  );
}

/** One curve of each run on a shared x; wall time counts from each run's own start. */
function overlay(having: readonly Compared[], metric: string, choice: ChartChoice): Drawn {
  const only = having.length === 1 ? having[0] : undefined;
  const origin = (compared: Compared) => unixSeconds(compared.run.started_at) ?? 0;
  if (only) return drawn([only.curves.get(metric) as Curve], undefined, choice.axis, origin(only), choice.smoothing);
  const { x, columns } = join(
    having.map((compared) => {
      const curve = compared.curves.get(metric) as Curve;
      return { x: xValues(curve, choice.axis, origin(compared)), y: curve.value };
    }),
  );
  return { x, raw: columns, lines: columns.map((column) => smooth(column, choice.smoothing)), low: null, high: null };
}

function SpecDifferences({ runs }: { runs: readonly Compared[] }) {
  const differing = differences(runs.map((compared) => compared.run.spec));
  const text = (value: Json | undefined) =>
    Array.isArray(value) && value.length > 3 && !value.some(isObject)
      ? `${value.length} entries`
      : inWords(value ?? null);
  return (
    <section class="card flush" aria-label="Settings that differ">
      <div class="card-head">
        <h2>Settings that differ</h2>
      </div>
      {differing.length === 0 ? (
        <Empty title="All settings are the same" />
      ) : (
        <div class="table-wrap">
          <table>
            <thead>
              <tr>
                <th>Setting</th>
                {runs.map(({ run, colour }) => (
                  <th key={run.id} style={{ color: `var(${colour})` }}>
                    {run.name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {differing.map(({ path, values }) => (
                <tr key={path}>
                  <td class="mono">{path}</td>
                  {values.map((value, index) => (
                    <td key={index} class="num mono" title={JSON.stringify(value)}>
                      {text(value)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
