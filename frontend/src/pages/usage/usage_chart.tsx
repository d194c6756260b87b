/** Bars of days, stacked by what the usage is asked by. */

import { useMemo, useState } from "preact/hooks";
import { api, type UsageBy, type Window } from "../../api/endpoints.ts";
import type { DailyUsage } from "../../api/schema.ts";
import { number } from "../../base/format.ts";
import { NUM_SERIES, seriesColour } from "../../base/series.ts";
import { TimeChart, type TimeSeries } from "../../charts/time_chart.tsx";
import { useResource } from "../../ui/resource.ts";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { daily, MEASURE_WORDS, type Measure, measuresUsed, money } from "./usage_words.ts";

const HEIGHT = 240;
/** As a sentence goes on with them. */
const BY_WORDS: Readonly<Record<UsageBy, string>> = {
  project: "project",
  user: "user",
  base_model: "model",
  accelerator: "kind of GPU",
  node: "node",
  pool: "pool",
  run: "run",
  day: "day",
};

interface Props {
  readonly window: Window;
  readonly by: UsageBy;
  readonly measure: Measure;
  readonly onMeasure: (measure: Measure) => void;
}

export function UsageChart({ window, by, measure, onMeasure }: Props) {
  const { value, error, reload } = useResource(() => api.dailyUsage(window, by), [window, by]);
  const used = measuresUsed(value?.rows ?? []);
  return (
    <section class="card" aria-label="Usage by day">
      <div class="card-head">
        <h2>
          {MEASURE_WORDS[measure]} a day
          {by !== "day" && ` by ${BY_WORDS[by]}`}
        </h2>
      </div>
      {error !== null && <Failed message={error} onRetry={reload} />}
      {value === undefined && error === null && <Loading label="Loading the days" />}
      {used.includes(measure) && value && <Bars usage={value} measure={measure} />}
      {value && !used.includes(measure) && <Nothing measure={measure} used={used} onMeasure={onMeasure} />}
    </section>
  );
}

const WHY_NOTHING: Readonly<Record<Measure, string>> = {
  gpu_hours: "Only CPU lanes were held in this window.",
  lane_hours: "Lanes were held for moments only.",
  cost: "None of the GPUs had a price when its lane was given.",
};

/** In place of an axis without bars: why there are none, and the measures that have some. */
function Nothing({ measure, used, onMeasure }: Pick<Props, "measure" | "onMeasure"> & { used: readonly Measure[] }) {
  const action = (
    <div class="row">
      {used.map((other) => (
        <button key={other} type="button" class="button small" onClick={() => onMeasure(other)}>
          Show {lowerFirst(MEASURE_WORDS[other])}
        </button>
      ))}
      {measure === "cost" && (
        <a class="button small" href="/pool">
          Set prices on the page Pool
        </a>
      )}
    </div>
  );
  return (
    <Empty title={`No ${lowerFirst(MEASURE_WORDS[measure])} in this window`} action={action}>
      {WHY_NOTHING[measure]}
    </Empty>
  );
}

/** "GPU hours" stays, "Lane hours" becomes "lane hours". */
const lowerFirst = (words: string) =>
  /^[A-Z]{2}/.test(words) ? words : words.charAt(0).toLowerCase() + words.slice(1);

function Bars({ usage, measure }: { readonly usage: DailyUsage; readonly measure: Measure }) {
  const [cursor, setCursor] = useState<number | null>(null);
  // Days of UTC, drawn where the reader's own midnight stands, so that the axis names the day.
  const at = useMemo(() => usage.days.map((day) => new Date(`${day}T00:00:00`).getTime() / 1000), [usage]);
  const series = useMemo(
    () =>
      usage.rows.map(
        (row, index): TimeSeries => ({
          label: row.name,
          colour: index < NUM_SERIES ? seriesColour(index) : "--ink-3",
          values: daily(row, measure),
        }),
      ),
    [usage, measure],
  );
  const text = (value: number) => (measure === "cost" ? money(value) : number(value));
  const shownValue = (values: readonly (number | null)[]) =>
    cursor === null ? values.reduce<number>((sum, value) => sum + (value ?? 0), 0) : (values[cursor] ?? 0);
  return (
    <>
      <TimeChart
        at={at}
        series={series}
        shape="bars"
        height={HEIGHT}
        syncKey="usage"
        label={`${MEASURE_WORDS[measure]} of each day; the table below has the sums`}
        onCursor={setCursor}
      />
      <ul class="legend wide">
        <li class="faint">{cursor === null ? "whole window" : usage.days[cursor]}</li>
        {series.map(({ label, colour, values }) => (
          <li key={label} title={label}>
            <i style={{ background: `var(${colour})` }} />
            <span class="truncate">{label}</span>
            <b class="num">{text(shownValue(values))}</b>
          </li>
        ))}
      </ul>
    </>
  );
}
