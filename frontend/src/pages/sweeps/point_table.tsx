/** Every point with its settings, where it stands, and its runs; the best first. */

import { useEffect, useRef } from "preact/hooks";
import type { Sweep, SweptPoint, SweptRun } from "../../api/schema.ts";
import { number } from "../../base/format.ts";
import type { Json } from "../../base/paths.ts";
import { MAX_COMPARED } from "../compare/compared_run.ts";
import { bestFirst, bestRuns, prunedBecause, valueText } from "./sweep_words.ts";

interface Props {
  readonly sweep: Sweep;
  readonly isShown: (point: SweptPoint) => boolean;
  readonly selected: number | null;
  readonly onSelect: (point: number | null) => void;
}

export function PointTable({ sweep, isShown, selected, onSelect }: Props) {
  const fields = Object.keys(sweep.plan.space);
  const best = sweep.best?.number;
  const points = bestFirst(sweep).filter(isShown);
  const compared = bestRuns(points, MAX_COMPARED / 2);
  return (
    <section class="card flush" aria-label="Points">
      <div class="card-head">
        <h2>Points</h2>
        <span class="row small">
          {compared.length > 1 && <a href={`/compare?runs=${compared.join()}`}>Compare the best {compared.length}</a>}
          <span class="muted num">
            {points.length === sweep.points.length ? points.length : `${points.length} of ${sweep.points.length}`}
          </span>
        </span>
      </div>
      <div class="table-wrap">
        <table class="points-table">
          <thead>
            <tr>
              <th class="right">#</th>
              {fields.map((field) => (
                <th key={field} class="right" title={field}>
                  {field.split(".").at(-1)}
                </th>
              ))}
              <th>State</th>
              <th class="right">{sweep.plan.objective.metric}</th>
              {sweep.plan.num_seeds > 1 && <th class="right">Over seeds</th>}
              <th class="right">Samples</th>
              <th class="right">GPU-hours</th>
              <th>Runs by seed</th>
            </tr>
          </thead>
          <tbody>
            {points.map((point) => (
              <Row
                key={point.number}
                point={point}
                fields={fields}
                hasSpread={sweep.plan.num_seeds > 1}
                isBest={point.number === best}
                isSelected={point.number === selected}
                onSelect={() => onSelect(point.number === selected ? null : point.number)}
              />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

interface RowProps {
  readonly point: SweptPoint;
  readonly fields: readonly string[];
  readonly hasSpread: boolean;
  readonly isBest: boolean;
  readonly isSelected: boolean;
  readonly onSelect: () => void;
}

function Row({ point, fields, hasSpread, isBest, isSelected, onSelect }: RowProps) {
  const row = useRef<HTMLTableRowElement>(null);
  useEffect(() => {
    if (isSelected) row.current?.scrollIntoView({ block: "nearest" });
  }, [isSelected]);
  const pruned = prunedBecause(point);
  return (
    <tr ref={row} class={isSelected ? "selected" : ""}>
      <td class="right num">
        <button type="button" class="point-number" aria-pressed={isSelected} onClick={onSelect}>
          {point.number}
        </button>
      </td>
      {fields.map((field) => (
        <td key={field} class="right num">
          {valueText(point.values[field] as Json)}
        </td>
      ))}
      <td>
        <span class={`pill ${point.state}`}>{point.state}</span>
        {pruned && <span class="point-why tiny muted">{pruned}</span>}
      </td>
      <td class="right num">
        {isBest && <span class="best-mark">best</span>} <b>{number(point.value)}</b>
      </td>
      {hasSpread && (
        <td class="right num nowrap muted">
          {point.least !== null && `${number(point.least)} – ${number(point.greatest)}`}
        </td>
      )}
      <td class="right num">{number(point.num_samples)}</td>
      <td class="right num">{number(point.gpu_hours)}</td>
      <td>
        <span class="point-runs">
          {point.runs.map((run) => (
            <RunLink key={run.seed} run={run} />
          ))}
        </span>
      </td>
    </tr>
  );
}

function RunLink({ run }: { run: SweptRun }) {
  const label = String(run.seed);
  if (run.id !== null && run.state !== null) {
    return (
      <a class={`pill ${run.state}`} href={`/runs/${run.id}`} title={`Seed ${run.seed}: ${run.name}, ${run.state}`}>
        {label}
      </a>
    );
  }
  const said = `Seed ${run.seed}: ${run.problem || "waits to be created, or was deleted"}`;
  return (
    <span class={`pill ${run.problem ? "failed" : ""}`} title={said}>
      {label}
      {run.problem && <span class="visually-hidden">: {run.problem}</span>}
    </span>
  );
}
