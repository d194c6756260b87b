/** The last hours of a GPU, minute by minute, and its slow-downs: what held its clocks back, and its clock against the
 * highest. */

import { useState } from "preact/hooks";
import { api } from "../../api/endpoints.ts";
import type { GpuMinutes, PoolGpu } from "../../api/schema.ts";
import { seconds, serverNow } from "../../base/clock.ts";
import { clock, number, percent } from "../../base/format.ts";
import { seriesColour } from "../../base/series.ts";
import { type Timed, withHoles } from "../../charts/stacks.ts";
import { TimeChart, type TimeSeries } from "../../charts/time_chart.tsx";
import { Segmented } from "../../ui/controls.tsx";
import { useResource } from "../../ui/resource.ts";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { clockUnderLoad, curve, MINUTE, slowDowns } from "./minutes.ts";

const WINDOWS = [
  { value: "1", label: "1 h" },
  { value: "3", label: "3 h" },
  { value: "12", label: "12 h" },
] as const;
const [GIB, HEIGHT] = [2 ** 30, 132];

export function GpuHours({ gpu }: { readonly gpu: PoolGpu }) {
  const [hours, setHours] = useState<(typeof WINDOWS)[number]["value"]>("1");
  // A new minute is there once a minute.
  const read = () => api.gpuMinutes(gpu.id, new Date((serverNow() - Number(hours) * 3600) * 1000).toISOString());
  const { value, error, reload } = useResource(read, [gpu.id, hours, Math.floor(seconds.value / MINUTE)]);
  return (
    <section class="card" aria-label="The last hours">
      <div class="card-head">
        <h2>The last hours</h2>
        <Segmented label="Window" choices={WINDOWS} value={hours} onChange={setHours} />
      </div>
      {error !== null && <Failed message={error} onRetry={reload} />}
      {value === undefined && error === null && <Loading label="Loading the last hours" />}
      {value && (value.at.length === 0 ? <Nothing /> : <Charts minutes={value} gpu={gpu} />)}
    </section>
  );
}

function Nothing() {
  return <Empty title="No minute yet">Once a minute has ended in which its agent reported, it is drawn here.</Empty>;
}

function Charts({ minutes, gpu }: { readonly minutes: GpuMinutes; readonly gpu: PoolGpu }) {
  const { identity, live } = gpu;
  const one = (title: string, unit: string, name: string, factor = 1, options: ChartOptions = {}) => {
    const timed = curve(minutes, name, factor);
    return timed && <Minutes key={name} {...{ title, unit, timed }} {...options} />;
  };
  return (
    <>
      <SlowDownSummary {...{ minutes, gpu }} />
      <div class="gpu-charts">
        {one("Utilisation", "%", "utilisation", 100, { range: [0, 100] })}
        {one("Memory used", "GiB", "memory_used_bytes", 1 / GIB, { range: [0, (identity?.memory_bytes ?? 0) / GIB] })}
        {one("Clock", "MHz", "sm_clock", 1, {
          range: [0, identity?.max_sm_clock ?? 0],
          reference: identity?.max_sm_clock,
        })}
        <Throttled minutes={minutes} />
        {one("Power", "W", "power", 1, { range: [0, live?.power_limit ?? 0], reference: live?.power_limit })}
        {one("Temperature", "°C", "temperature")}
        {one("Memory temperature", "°C", "memory_temperature")}
        {one("NVLink", "GiB a second", "nvlink_bytes_per_second", 1 / GIB, { range: [0, 0] })}
      </div>
    </>
  );
}

interface ChartOptions {
  readonly range?: readonly [number, number];
  /** The most that is possible, as a dashed line. */
  readonly reference?: number | null | undefined;
}

function Minutes(props: ChartOptions & { title: string; unit: string; timed: Timed }) {
  const { title, unit, timed, range, reference } = props;
  const [cursor, setCursor] = useState<number | null>(null);
  const [mean = [], low = [], high = []] = timed.columns;
  const index = cursor ?? timed.at.length - 1;
  const value = mean[index];
  return (
    <figure class="gpu-chart">
      <figcaption class="row-between small">
        <b>{title}</b>
        <span class="num muted">
          <span class="faint">{clock(timed.at[index] ?? null, false)}</span> {number(value)} {unit}
          {value !== null && value !== undefined && low[index] !== high[index] && (
            <span class="faint">
              {" "}
              ({number(low[index])}–{number(high[index])})
            </span>
          )}
        </span>
      </figcaption>
      <TimeChart
        at={timed.at}
        series={[{ label: title, colour: "--series-1", values: mean }]}
        shape="lines"
        band={{ low, high }}
        range={range}
        reference={reference ?? undefined}
        height={HEIGHT}
        syncKey="gpu"
        label={`${title} by minute, in ${unit}; now ${number(mean.at(-1))}`}
        onCursor={setCursor}
      />
    </figure>
  );
}

/** Reasons may hold the clocks back together, so they are lines and not stacked. */
function Throttled({ minutes }: { readonly minutes: GpuMinutes }) {
  const reasons = Object.keys(minutes.throttled);
  if (reasons.length === 0) return null;
  const columns = reasons.map((reason) => (minutes.throttled[reason] ?? []).map((share) => share * 100));
  const timed = withHoles({ at: minutes.at, columns }, MINUTE);
  const series = reasons.map(
    (label, index): TimeSeries => ({
      label,
      colour: seriesColour(index + 1),
      values: timed.columns[index] ?? [],
    }),
  );
  return (
    <figure class="gpu-chart">
      <figcaption class="row-between small">
        <b>Clocks held back, % of readings</b>
        <span class="legend">
          {series.map(({ label, colour }) => (
            <span key={label} class="row">
              <i style={{ background: `var(${colour})` }} />
              {label}
            </span>
          ))}
        </span>
      </figcaption>
      <TimeChart
        at={timed.at}
        series={series}
        shape="lines"
        range={[0, 100]}
        height={HEIGHT}
        syncKey="gpu"
        label={`Share of readings in which the clocks were held back: ${reasons.join(", ")}`}
      />
    </figure>
  );
}

function SlowDownSummary({ minutes, gpu }: { readonly minutes: GpuMinutes; readonly gpu: PoolGpu }) {
  const share = clockUnderLoad(minutes, gpu.identity?.max_sm_clock);
  const slow = slowDowns(minutes).map(({ reason, share: part }) => `${reason} in ${percent(part, 1)} of readings`);
  return (
    <p class="small muted">
      {slow.length === 0 ? "Nothing held its clocks back. " : `Its clocks were held back by ${slow.join(", ")}. `}
      {share !== null && `Under load its clock was at ${percent(share)} of the highest on average. `}
      {gpu.slow_factor !== null &&
        `At the same work it takes ${number(gpu.slow_factor)} times as long as its peers, as the last run measured.`}
    </p>
  );
}
