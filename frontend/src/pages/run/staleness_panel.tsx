/** How stale each batch's trajectories were when they were trained on, under the reward of the same batches: a heat map
 * and a curve with one axis, one crosshair and one window. */

import { useMemo, useRef, useState } from "preact/hooks";
import { api } from "../../api/endpoints.ts";
import type { StalenessColumn } from "../../api/schema.ts";
import { number, percent } from "../../base/format.ts";
import { chartColumns } from "../../charts/axis.ts";
import { Chart } from "../../charts/chart.tsx";
import type { Range } from "../../charts/drag_zoom.ts";
import { HeatMap } from "../../charts/heat_map.tsx";
import { usePanelCurves } from "../../charts/panel_curves.ts";
import { useWidthInView } from "../../ui/in_view.ts";
import { useLiveResource } from "../../ui/resource.ts";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { Terms } from "../../ui/term.tsx";
import type { RunProps } from "./context.ts";
import { columnText, levelsOf, levelText, most, perBatch, rewardOf, shareOf } from "./staleness_levels.ts";

const [REWARD, REWARD_COLOUR] = ["reward/mean", "--series-1"];
/** Narrower columns cannot be pointed at, in CSS pixels. */
const COLUMN_PIXELS = 3;
/** Columns are asked for in steps of so many, so that a window that is dragged wider does not ask at each pixel. */
const STEP_COLUMNS = 100;
/** Of both charts, in CSS pixels, so that a batch has one x. */
const AXIS_WIDTH = 58;
const REWARD_HEIGHT = 130;
/** Of a row of the map, and of what lies beneath the rows. */
const [ROW_HEIGHT, BELOW_ROWS] = [28, 28];
const SYNC = "staleness";

export function StalenessPanel({ store, run }: RunProps) {
  const box = useRef<HTMLElement>(null);
  const width = useWidthInView(box);
  const [zoom, setZoom] = useState<Range | null>(null);
  const asked = { max_columns: Math.max(1, Math.ceil(width / COLUMN_PIXELS / STEP_COLUMNS)) * STEP_COLUMNS };
  const window = zoom && { from_batch: Math.max(1, Math.round(zoom.from)), to_batch: Math.max(1, Math.round(zoom.to)) };
  const staleness = useLiveResource(
    () => api.staleness(run.id, { ...asked, ...window }),
    [run.id, asked.max_columns, window?.from_batch, window?.to_batch],
    store.timeline.version,
  );
  const columns = staleness.value?.columns ?? [];
  const levels = levelsOf(columns, run.spec.pipeline.max_staleness);
  return (
    <section class="card" ref={box} aria-label="Staleness by batch">
      <div class="card-head">
        <h2>
          <Terms>Staleness and reward by batch</Terms>
        </h2>
        {columns.length > 0 && <Scale columns={columns} levels={levels} />}
      </div>
      {staleness.error !== null && <Failed message={staleness.error} onRetry={staleness.reload} />}
      {staleness.value === undefined && staleness.error === null && <Loading />}
      {staleness.value && columns.length === 0 && (
        <Empty title="No batch trained yet">Each batch reports the staleness of its trajectories when it ends.</Empty>
      )}
      {columns.length > 0 && <Joined {...{ store, columns, levels, width, zoom, setZoom }} />}
    </section>
  );
}

/** What the colours mean, and the share of each level. */
function Scale({ columns, levels }: { columns: readonly StalenessColumn[]; levels: readonly number[] }) {
  return (
    <ul class="span-legend">
      <li>
        <i class="swatch" style={{ "--swatch": `var(${REWARD_COLOUR})` }} /> reward
      </li>
      {levels.map((level) => (
        <li key={level}>
          {levelText(level)} <b class="num">{percent(shareOf(columns, level), 1)}</b>
        </li>
      ))}
      <li>
        <span class="num">0</span>
        <i class="heat-scale" />
        <span class="num">{number(most(columns))}</span> trajectories a batch
      </li>
    </ul>
  );
}

interface JoinedProps extends Pick<RunProps, "store"> {
  readonly columns: readonly StalenessColumn[];
  readonly levels: readonly number[];
  readonly width: number;
  readonly zoom: Range | null;
  readonly setZoom: (zoom: Range | null) => void;
}

function Joined({ store, columns, levels, width, zoom, setZoom }: JoinedProps) {
  const [cursor, setCursor] = useState<number | null>(null);
  const curves = usePanelCurves({ store: store.metrics, keys: [REWARD], width, axis: "batch", origin: 0, zoom });
  const reward = useMemo(() => chartColumns([...curves.values()], undefined, "batch", 0, 0), [curves]);
  const cells = useMemo(
    () =>
      columns.map((column) => ({
        from: column.first_batch,
        to: column.last_batch,
        values: levels.map((level) => perBatch(column, level)),
      })),
    [columns, levels.length],
  );
  const window = zoom ?? { from: (columns[0]?.first_batch ?? 1) - 0.5, to: (columns.at(-1)?.last_batch ?? 1) + 0.5 };
  const pointed = columns[cursor ?? columns.length - 1] ?? columns.at(-1);
  return (
    <>
      {reward.x.length > 0 && (
        <Chart
          lines={[{ label: "reward", colour: REWARD_COLOUR }]}
          data={reward}
          axis="batch"
          height={REWARD_HEIGHT}
          syncKey={SYNC}
          smoothed={false}
          axisWidth={AXIS_WIDTH}
          isAxisBelow
          zoom={window}
          onZoom={setZoom}
        />
      )}
      <HeatMap
        columns={cells}
        rows={levels.map(String)}
        most={most(columns)}
        colour="--accent"
        window={window}
        height={levels.length * ROW_HEIGHT + BELOW_ROWS}
        axisWidth={AXIS_WIDTH}
        syncKey={`${SYNC}-batch`}
        label={`Staleness of ${columns.length} batches`}
        onZoom={setZoom}
        onCursor={setCursor}
      />
      {pointed && <p class="small num">{columnText(pointed, rewardOf(pointed, reward.x, reward.lines[0] ?? []))}</p>}
    </>
  );
}
