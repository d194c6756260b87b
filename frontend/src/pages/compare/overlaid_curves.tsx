/** The runs' curves over one another: the chosen metrics, names at the lines, one crosshair over all. */

import { useMemo, useState } from "preact/hooks";
import { number, percent } from "../../base/format.ts";
import type { Column, XAxis } from "../../charts/axis.ts";
import { Chart, type Line } from "../../charts/chart.tsx";
import { curveTitle } from "../../charts/panels.ts";
import { MAX_SMOOTHING } from "../../charts/tools.tsx";
import { Segmented } from "../../ui/controls.tsx";
import { Icon } from "../../ui/icon.tsx";
import { type CompareAxis, type ComparedRun, metricsOf, type OverlaidLine, overlaid } from "./compared_run.ts";
import type { SeedGroup } from "./seed_groups.ts";

/** More would be a second metrics page, and each is a curve of every run to read. */
const MAX_CURVES = 12;

/** Every axis by that whose labels it has: samples are whole numbers as steps are. */
const LABELLED_AS: Readonly<Record<CompareAxis, XAxis>> = { batch: "batch", samples: "step", wall: "wall" };

interface Props {
  readonly runs: readonly ComparedRun[];
  readonly groups: readonly SeedGroup[];
  readonly hidden: ReadonlySet<string>;
  readonly keys: readonly string[];
  readonly onKeys: (keys: readonly string[]) => void;
}

interface View {
  readonly axis: CompareAxis;
  readonly smoothing: number;
  readonly showsMeans: boolean;
}

export function OverlaidCurves({ runs, groups, hidden, keys, onKeys }: Props) {
  const [view, setView] = useState<View>({ axis: "batch", smoothing: 0, showsMeans: false });
  const hasSeeds = groups.some((group) => group.runs.length > 1);
  const lines = view.showsMeans && hasSeeds ? meansOf(groups, hidden) : linesOf(runs, hidden);
  const others = metricsOf(runs).filter((key) => !keys.includes(key));
  return (
    <section class="stack-s" aria-label="Curves">
      <Tools view={view} onChange={setView} hasSeeds={hasSeeds} />
      {view.showsMeans && hasSeeds && runs.some(({ run }) => hidden.has(run.id)) && (
        <p class="small muted">
          A mean counts all seeds of its group, hidden ones too; a group is hidden with all of them.
        </p>
      )}
      <div class="charts">
        {keys.map((key) => (
          <Overlay
            key={key}
            metric={key}
            lines={lines}
            view={view}
            onRemove={() => onKeys(keys.filter((one) => one !== key))}
          />
        ))}
      </div>
      {keys.length < MAX_CURVES && others.length > 0 && (
        <label class="small muted compare-more">
          Another curve
          <select
            value=""
            onChange={(event) => event.currentTarget.value && onKeys([...keys, event.currentTarget.value])}
          >
            <option value="">Choose…</option>
            {others.map((key) => (
              <option key={key} value={key}>
                {curveTitle(key)}
              </option>
            ))}
          </select>
        </label>
      )}
    </section>
  );
}

function linesOf(runs: readonly ComparedRun[], hidden: ReadonlySet<string>): OverlaidLine[] {
  return runs
    .filter(({ run }) => !hidden.has(run.id))
    .map((compared) => ({ name: compared.run.name, colour: compared.colour, members: [compared] }));
}

/** Hiding a seed leaves its group's mean as it is: only a group of which all are hidden goes. */
function meansOf(groups: readonly SeedGroup[], hidden: ReadonlySet<string>): OverlaidLine[] {
  return groups
    .filter((group) => group.runs.some(({ run }) => !hidden.has(run.id)))
    .map(({ name, colour, runs }) => ({ name, colour, members: runs }));
}

function Tools(props: { view: View; onChange: (view: View) => void; hasSeeds: boolean }) {
  const { view, onChange } = props;
  return (
    <div class="chart-tools">
      <h2>Curves</h2>
      <Segmented
        label="X axis"
        value={view.axis}
        onChange={(axis) => onChange({ ...view, axis })}
        choices={[
          { value: "batch", label: "Batch" },
          { value: "samples", label: "Samples" },
          { value: "wall", label: "Hours" },
        ]}
      />
      {props.hasSeeds && (
        <Segmented
          label="Lines"
          value={view.showsMeans ? "means" : "runs"}
          onChange={(value) => onChange({ ...view, showsMeans: value === "means" })}
          choices={[
            { value: "runs", label: "Each run" },
            { value: "means", label: "Mean of seeds" },
          ]}
        />
      )}
      <label>
        Smoothing
        <input
          type="range"
          min="0"
          max={MAX_SMOOTHING}
          step="0.005"
          value={view.smoothing}
          onInput={(event) => onChange({ ...view, smoothing: Number(event.currentTarget.value) })}
        />
        <span class="num">{percent(view.smoothing, 1)}</span>
      </label>
    </div>
  );
}

interface OverlayProps {
  readonly metric: string;
  readonly lines: readonly OverlaidLine[];
  readonly view: View;
  readonly onRemove: () => void;
}

function Overlay({ metric, lines, view, onRemove }: OverlayProps) {
  const [cursor, setCursor] = useState<number | null>(null);
  const shown = lines.map(({ name, members }) => `${name}:${members.length}`).join("|");
  const { having, columns } = useMemo(() => overlaid(lines, metric, view), [lines, shown, metric, view]);
  const drawn = having.map(({ name, colour }): Line => ({ label: name, colour }));
  return (
    <section class="card chart-card" aria-label={curveTitle(metric)}>
      <div class="chart-head">
        <h3 title={metric}>{curveTitle(metric)}</h3>
        <Values lines={drawn} columns={columns.lines} cursor={cursor} />
        <button type="button" class="button quiet small" aria-label={`Remove ${curveTitle(metric)}`} onClick={onRemove}>
          <Icon name="close" />
        </button>
      </div>
      {having.length === 0 ? (
        <p class="small faint compare-none">None of the runs shown has measured it.</p>
      ) : (
        <Chart
          lines={drawn}
          data={columns}
          axis={LABELLED_AS[view.axis]}
          height={210}
          syncKey={`compare-${view.axis}`}
          smoothed={view.smoothing > 0}
          named
          onCursor={setCursor}
        />
      )}
    </section>
  );
}

/** Values under the crosshair, else the newest; the names stand at the lines. */
function Values(props: { lines: readonly Line[]; columns: readonly Column[]; cursor: number | null }) {
  return (
    <ul class="legend">
      {props.lines.map((line, index) => {
        const column = props.columns[index] ?? [];
        const value = props.cursor === null ? column.findLast((one) => one !== null) : column[props.cursor];
        return (
          <li key={line.colour} title={line.label}>
            <i style={{ background: `var(${line.colour})` }} />
            <b class="num">{number(value, 4)}</b>
          </li>
        );
      })}
    </ul>
  );
}
