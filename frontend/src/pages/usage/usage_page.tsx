/** What was used and what it cost: by project, user, model, GPU kind, node, run or day, as bars of days and a table. */

import { useMemo, useState } from "preact/hooks";
import { searchOf } from "../../api/client.ts";
import { api, type UsageBy } from "../../api/endpoints.ts";
import type { UsageRow } from "../../api/schema.ts";
import { chosen, readQuery, writeQuery } from "../../base/address.ts";
import { serverNow } from "../../base/clock.ts";
import { number } from "../../base/format.ts";
import { Segmented } from "../../ui/controls.tsx";
import { useResource } from "../../ui/resource.ts";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { Budgets } from "./budgets.tsx";
import { UsageChart } from "./usage_chart.tsx";
import { UsageTable } from "./usage_table.tsx";
import {
  ALL_BY,
  MEASURE_WORDS,
  MEASURES,
  type Measure,
  money,
  priceText,
  SPANS,
  type Span,
  totalsOf,
  USAGE_BY,
  windowOf,
} from "./usage_words.ts";

interface Choice {
  readonly by: UsageBy;
  readonly measure: Measure;
  readonly span: Span;
  readonly from: string;
  readonly to: string;
}

export function UsagePage() {
  const [choice, setChoice] = useState<Choice>(() => {
    const query = readQuery();
    const { from = "", to = "" } = query;
    return {
      by: chosen(query, "by", ALL_BY),
      measure: chosen(query, "measure", MEASURES),
      span: chosen(query, "span", SPANS),
      from,
      to,
    };
  });
  const show = (next: Partial<Choice>) => {
    const all = { ...choice, ...next };
    setChoice(all);
    writeQuery(all.span === "own" ? { ...all } : { ...all, from: undefined, to: undefined });
  };
  const { by, measure, span, from, to } = choice;
  const window = useMemo(() => windowOf(span, from, to, serverNow()), [span, from, to]);
  const rows = useResource(async () => (window === null ? [] : api.usage(window, by)), [window, by]);
  return (
    <>
      <div class="page-head">
        <h1>Usage and cost</h1>
        {window !== null && (
          <a class="button" href={`/api/v1/usage.csv${searchOf({ ...window, by })}`} download>
            Download CSV
          </a>
        )}
      </div>
      <Filters choice={choice} onChange={show} />
      {rows.error !== null && <Failed message={rows.error} onRetry={rows.reload} />}
      {rows.value === undefined && rows.error === null && <Loading label="Loading the usage" />}
      {window === null && <Empty title="Choose two days">The first must not lie behind the last.</Empty>}
      {window !== null && rows.value && (
        <div class="stack">
          <Sums rows={rows.value} />
          <Budgets />
          {rows.value.length === 0 ? (
            <Empty
              title="Nothing was used"
              action={
                <div class="row">
                  {span !== "90" && (
                    <button type="button" class="button small" onClick={() => show({ span: "90" })}>
                      Show 90 days
                    </button>
                  )}
                  <a class="button small" href="/runs/new">
                    New run
                  </a>
                </div>
              }
            >
              Lanes that runs and previews of your projects held in this window are summed here.
            </Empty>
          ) : (
            <>
              <UsageChart {...{ window, by, measure }} onMeasure={(other) => show({ measure: other })} />
              <UsageTable rows={rows.value} {...{ by, measure }} />
            </>
          )}
        </div>
      )}
    </>
  );
}

function Filters({ choice, onChange }: { choice: Choice; onChange: (next: Partial<Choice>) => void }) {
  const { by, measure, span, from, to } = choice;
  return (
    <div class="filters">
      <label class="row small">
        By
        <select value={by} onChange={(event) => onChange({ by: event.currentTarget.value as UsageBy })}>
          {ALL_BY.map((one) => (
            <option key={one} value={one}>
              {USAGE_BY[one]}
            </option>
          ))}
        </select>
      </label>
      <Segmented
        label="Unit"
        value={measure}
        choices={MEASURES.map((value) => ({ value, label: MEASURE_WORDS[value] }))}
        onChange={(value) => onChange({ measure: value })}
      />
      <Segmented
        label="Window"
        value={span}
        choices={[
          { value: "7", label: "7 days" },
          { value: "30", label: "30 days" },
          { value: "90", label: "90 days" },
          { value: "own", label: "From … to" },
        ]}
        onChange={(value) => onChange({ span: value })}
      />
      {span === "own" && (
        <>
          <DayField label="From" value={from} onChange={(value) => onChange({ from: value })} />
          <DayField label="To" value={to} onChange={(value) => onChange({ to: value })} />
        </>
      )}
      <span class="small muted">Days of UTC</span>
    </div>
  );
}

function DayField(props: { label: string; value: string; onChange: (value: string) => void }) {
  return (
    <label class="row small">
      {props.label}
      <input
        class="input day"
        type="date"
        value={props.value}
        onChange={(event) => props.onChange(event.currentTarget.value)}
      />
    </label>
  );
}

function Sums({ rows }: { readonly rows: readonly UsageRow[] }) {
  const totals = totalsOf(rows);
  const facts = [
    ["GPU hours", number(Math.round(totals.gpu_hours * 10) / 10)],
    ["Lane hours, CPU lanes too", number(Math.round(totals.lane_hours * 10) / 10)],
    ["Cost", money(totals.cost)],
  ] as const;
  return (
    <section class="card" aria-label="Sums">
      <dl class="sums">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt class="small muted">{name}</dt>
            <dd class="num">{value}</dd>
          </div>
        ))}
      </dl>
      <p class="small muted">{priceText(totals)}</p>
    </section>
  );
}
