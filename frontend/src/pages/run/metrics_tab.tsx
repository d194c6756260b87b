/** Every curve of the run: curated panels first, then whatever else was reported. The browser remembers axis and smoothing. */

import { useMemo, useState } from "preact/hooks";
import { unixSeconds } from "../../base/format.ts";
import { type ChartView, MetricPanel } from "../../charts/panel.tsx";
import { curveTitle, leftOver, METRIC_PANELS, measuredPanels } from "../../charts/panels.ts";
import { ChartTools, useChartView } from "../../charts/tools.tsx";
import type { RunProps } from "./context.ts";

export function MetricsTab({ store, run }: RunProps) {
  const [choice, setChoice] = useChartView();
  const [search, setSearch] = useState("");
  const origin = unixSeconds(run.started_at) ?? 0;
  const view: ChartView = useMemo(() => ({ ...choice, origin }), [choice, origin]);
  const known = readKeys(store.metrics.version.value, store).sort().join("\n");
  const extra = leftOver(known.split("\n")).join("\n");
  const panels = useMemo(
    () => [
      ...measuredPanels(METRIC_PANELS, new Set(known.split("\n"))),
      ...extra
        .split("\n")
        .filter(Boolean)
        .map((key) => ({ id: key, title: curveTitle(key), help: key, keys: [key] })),
    ],
    [known],
  );
  const wanted = search.trim().toLowerCase();
  const shown = panels.filter((panel) => `${panel.title} ${panel.keys.join(" ")}`.toLowerCase().includes(wanted));
  return (
    <div class="stack">
      <div class="row-between">
        <ChartTools choice={choice} onChange={setChoice} />
        <input
          type="search"
          placeholder="Find a metric"
          aria-label="Find a metric"
          style={{ width: "200px" }}
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
      </div>
      <div class="charts">
        {shown.map((panel) => (
          <MetricPanel key={panel.id} panel={panel} store={store.metrics} view={view} />
        ))}
      </div>
    </div>
  );
}

function readKeys(_version: number, store: RunProps["store"]): string[] {
  return [...store.metrics.keys];
}
