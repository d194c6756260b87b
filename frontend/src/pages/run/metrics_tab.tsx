/** Every curve of the run in sections: pinned panels first, then the curated ones, then whatever else was reported. */

import { useMemo } from "preact/hooks";
import { unixSeconds } from "../../base/format.ts";
import { type ChartView, MetricPanel } from "../../charts/panel.tsx";
import { leftOver, METRIC_PANELS, measuredPanels, ofKey, type PanelSpec, sectionsOf } from "../../charts/panels.ts";
import { ChartTools } from "../../charts/tools.tsx";
import { Empty } from "../../ui/states.tsx";
import type { RunProps } from "./context.ts";
import { useMetricsView } from "./metrics_view.ts";

export function MetricsTab({ store, run }: RunProps) {
  const [shown, change] = useMetricsView();
  const { choice, zoom, pins, search } = shown;
  const origin = unixSeconds(run.started_at) ?? 0;
  const view: ChartView = useMemo(
    () => ({ ...choice, origin, zoom, onZoom: (next) => change({ zoom: next }) }),
    [shown, origin],
  );
  void store.metrics.version.value;
  const known = [...store.metrics.keys].sort().join("\n");
  const panels = useMemo(() => panelsOf(known.split("\n").filter(Boolean)), [known]);
  const wanted = search.trim().toLowerCase();
  const found = panels.filter((panel) => `${panel.title} ${panel.keys.join(" ")}`.toLowerCase().includes(wanted));
  const pin = (id: string) => change({ pins: pins.includes(id) ? pins.filter((one) => one !== id) : [...pins, id] });
  return (
    <div class="stack">
      <div class="row-between">
        <ChartTools choice={choice} onChange={(next) => change({ choice: next })} inFull />
        <div class="row">
          {zoom && (
            <button type="button" class="button small" onClick={() => change({ zoom: null })}>
              Show all of x
            </button>
          )}
          <input
            type="search"
            placeholder="Find a metric"
            aria-label="Find a metric"
            value={search}
            style={{ width: "200px" }}
            onInput={(event) => change({ search: event.currentTarget.value })}
          />
        </div>
      </div>
      {found.length === 0 && <Empty title="No metric by this name" />}
      {sectionsOf(found, pins).map(([title, ofSection]) => (
        <section key={title} class="stack-s" aria-label={title}>
          <h2>{title}</h2>
          <div class="charts">
            {ofSection.map((panel) => (
              <MetricPanel
                key={panel.id}
                panel={panel}
                store={store.metrics}
                view={view}
                isPinned={pins.includes(panel.id)}
                onPin={() => pin(panel.id)}
              />
            ))}
          </div>
        </section>
      ))}
    </div>
  );
}

function panelsOf(known: readonly string[]): readonly PanelSpec[] {
  return [...measuredPanels(METRIC_PANELS, new Set(known)), ...leftOver(known).map(ofKey)];
}
