/** A titled chart of some metrics of one run: legend with the value under the crosshair, else the latest. */

import { useMemo, useState } from "preact/hooks";
import { number } from "../base/format.ts";
import { seriesColour } from "../base/series.ts";
import type { MetricStore } from "../live/metric_store.ts";
import { Empty } from "../ui/states.tsx";
import { chartColumns, type XAxis } from "./axis.ts";
import { Chart, type Line } from "./chart.tsx";
import { curveLabel, matchingKeys, type PanelSpec } from "./panels.ts";

export interface ChartView {
  readonly axis: XAxis;
  readonly smoothing: number;
  readonly origin: number;
}

export function MetricPanel(props: { panel: PanelSpec; store: MetricStore; view: ChartView; height?: number }) {
  const { panel, store, view } = props;
  const [cursor, setCursor] = useState<number | null>(null);
  const version = store.version.value;
  const keys = matchingKeys(panel, store.curves.keys());
  const data = useMemo(() => {
    const curves = keys.flatMap((key) => store.curves.get(key) ?? []);
    const spread = panel.band === undefined ? undefined : store.curves.get(panel.band);
    return chartColumns(curves, spread, view.axis, view.origin, view.smoothing);
  }, [version, panel, view.axis, view.smoothing, view.origin]);
  const lines = keys.map(
    (key, index): Line => ({
      label: curveLabel(key),
      colour: seriesColour(index),
    }),
  );
  return (
    <section class="card chart-card" aria-label={panel.title}>
      <div class="chart-head">
        <h3 title={panel.help}>{panel.title}</h3>
        <Legend lines={lines} data={data.lines} cursor={cursor} unit={panel.unit} />
      </div>
      {data.x.length === 0 ? (
        <Empty title="No points yet">{panel.help}</Empty>
      ) : (
        <Chart
          lines={lines}
          data={data}
          axis={view.axis}
          height={props.height ?? 190}
          syncKey="run"
          reference={panel.reference}
          smoothed={view.smoothing > 0}
          onCursor={setCursor}
        />
      )}
    </section>
  );
}

export function Legend(props: {
  lines: readonly Line[];
  data: readonly (readonly (number | null)[])[];
  cursor: number | null;
  unit?: string | undefined;
  /** The colours are explained elsewhere on the page. */
  unnamed?: boolean;
}) {
  return (
    <ul class="legend">
      {props.lines.map((line, index) => {
        const column = props.data[index] ?? [];
        const value = props.cursor === null ? column.findLast((one) => one !== null) : column[props.cursor];
        return (
          <li key={line.label} title={line.label}>
            <i style={{ background: `var(${line.colour})` }} />
            {props.lines.length > 1 && !props.unnamed && <span class="truncate">{line.label}</span>}
            <b class="num">{number(value, 4)}</b>
            {props.unit && <span class="faint">{props.unit}</span>}
          </li>
        );
      })}
    </ul>
  );
}
