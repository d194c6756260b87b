/** A titled chart of some metrics of one run: legend with the value under the crosshair, else the latest. It reads its
 * curves when it comes into view. */

import { useMemo, useRef, useState } from "preact/hooks";
import { number } from "../base/format.ts";
import { seriesColour } from "../base/series.ts";
import type { Kernel } from "../base/smoothing.ts";
import type { MetricStore } from "../live/metric_store.ts";
import { useWidthInView } from "../ui/in_view.ts";
import { Empty, Failed } from "../ui/states.tsx";
import { chartColumns, type XAxis } from "./axis.ts";
import { Chart, type Line } from "./chart.tsx";
import type { Range } from "./drag_zoom.ts";
import { PanelActions } from "./panel_actions.tsx";
import { stepsIn, usePanelCurves } from "./panel_curves.ts";
import { curveLabel, matchingKeys, type PanelSpec } from "./panels.ts";
import type { YScale } from "./tools.tsx";

export interface ChartView {
  readonly axis: XAxis;
  readonly smoothing: number;
  readonly kernel?: Kernel;
  readonly scale?: YScale;
  readonly origin: number;
  /** The window that all panels show. Without `onZoom` each panel has its own. */
  readonly zoom?: Range | null;
  readonly onZoom?: (zoom: Range | null) => void;
}

interface PanelProps {
  readonly panel: PanelSpec;
  readonly store: MetricStore;
  readonly view: ChartView;
  readonly height?: number;
  readonly isPinned?: boolean;
  /** Without it the panel can be neither pinned nor saved. */
  readonly onPin?: () => void;
}

export function MetricPanel(props: PanelProps) {
  const { panel, store, view, height = 190 } = props;
  const box = useRef<HTMLElement>(null);
  const [cursor, setCursor] = useState<number | null>(null);
  const [ownZoom, setOwnZoom] = useState<Range | null>(null);
  const zoom = view.onZoom ? (view.zoom ?? null) : ownZoom;
  const { axis, origin, smoothing, kernel = "ema", scale = "linear" } = view;
  const keys = matchingKeys(panel, store.keys);
  const read = panel.band === undefined ? keys : [...keys, panel.band];
  const curves = usePanelCurves({ store, keys: read, width: useWidthInView(box), axis, origin, zoom });
  const data = useMemo(() => {
    const spread = panel.band === undefined ? undefined : curves.get(panel.band);
    return chartColumns(
      keys.flatMap((key) => curves.get(key) ?? []),
      spread,
      axis,
      origin,
      smoothing,
      kernel,
    );
  }, [curves, axis, smoothing, kernel, origin]);
  const lines = keys
    .filter((key) => curves.has(key))
    .map((key, index): Line => ({ label: curveLabel(key), colour: seriesColour(index) }));
  const [spanning] = curves.values();
  const isRead = keys.length === 0 || lines.length > 0;
  return (
    <section class="card chart-card" ref={box} aria-label={panel.title}>
      <div class="chart-head">
        <h3 title={panel.help}>{panel.title}</h3>
        <Legend lines={lines} data={data.lines} cursor={cursor} unit={panel.unit} />
      </div>
      {!isRead && (
        <div class="chart" style={{ minHeight: `${height}px` }}>
          {store.problem.value !== null && <Failed message={store.problem.value} onRetry={() => store.retry()} />}
        </div>
      )}
      {isRead && data.x.length === 0 && <Empty title="No points yet">{panel.help}</Empty>}
      {isRead && data.x.length > 0 && (
        <Chart
          lines={lines}
          data={data}
          axis={axis}
          height={height}
          syncKey="run"
          reference={panel.reference}
          smoothed={smoothing > 0}
          scale={scale}
          zoom={zoom}
          onZoom={view.onZoom ?? setOwnZoom}
          onCursor={setCursor}
        />
      )}
      {props.onPin && (
        <PanelActions
          title={panel.title}
          store={store}
          keys={read}
          steps={zoom && spanning ? stepsIn(spanning, axis, origin, zoom) : null}
          isPinned={props.isPinned ?? false}
          onPin={props.onPin}
          drawn={() => box.current?.querySelector("canvas") ?? null}
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
