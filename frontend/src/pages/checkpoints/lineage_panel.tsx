/** The runs that a run came from and those that came from it, over their batches: checkpoints as dots, forks as edges.
 *
 * The list beside the drawing says the same in words, for readers of the screen and for the keyboard. */

import { api } from "../../api/endpoints.ts";
import type { Lineage } from "../../api/schema.ts";
import { number } from "../../base/format.ts";
import { StatePill } from "../../ui/controls.tsx";
import { useResource } from "../../ui/resource.ts";
import { Failed, Loading } from "../../ui/states.tsx";
import { Term } from "../../ui/term.tsx";
import type { RunProps } from "../run/context.ts";
import { type LineageLayout, type LineageRow, lineageLayout, lineageWords } from "./lineage_layout.ts";

const DOT_PIXELS = 3.5;
const FORKED_DOT_PIXELS = 5;

export function LineagePanel({ store, run }: RunProps) {
  const lineage = useResource(() => api.lineage(run.id), [run.id, store.filesVersion.value, run.state]);
  return (
    <section class="card" aria-label="Lineage">
      <div class="card-head">
        <h2>Lineage</h2>
        <span class="tiny faint">
          dots are checkpoints; a line down is a <Term word="fork">fork</Term>, a dashed one copied settings
        </span>
      </div>
      {lineage.error !== null && <Failed message={lineage.error} onRetry={lineage.reload} />}
      {lineage.value === undefined && lineage.error === null && <Loading />}
      {lineage.value && <Graph lineage={lineage.value} />}
    </section>
  );
}

function Graph({ lineage }: { lineage: Lineage }) {
  const layout = lineageLayout(lineage);
  const names = new Map(lineage.runs.map((run) => [run.id, run.name]));
  return (
    <>
      <div class="lineage" style={{ "--lineage-rows": layout.rows.length }}>
        <ol>
          {layout.rows.map(({ run }) => (
            <li key={run.id} class={run.generation === 0 ? "current" : ""}>
              <span class="lineage-name">
                {run.generation === 0 ? (
                  <strong aria-current="page">{run.name}</strong>
                ) : (
                  <a href={`/runs/${run.id}#checkpoints`}>{run.name}</a>
                )}
                <StatePill state={run.state} />
              </span>
              <span class="tiny faint num">{lineageWords(run, names.get(run.parent ?? ""))}</span>
              <span class="lineage-reward num" title={rewardTitle(run.evaluated_batch)}>
                {run.reward === null ? "" : number(run.reward)}
              </span>
            </li>
          ))}
        </ol>
        <svg class="lineage-tracks" aria-hidden="true">
          {layout.rows.map((row) => (
            <Track key={row.run.id} row={row} />
          ))}
        </svg>
        <Axis layout={layout} />
      </div>
      {lineage.runs.length === 1 && (
        <p class="tiny faint">No other run yet. Fork a checkpoint below to go on from it with other settings.</p>
      )}
      {!lineage.is_whole && (
        <p class="tiny faint">The lineage is longer: open a run at its edge to see what follows.</p>
      )}
    </>
  );
}

const rewardTitle = (batch: number | null) =>
  batch === null ? "not evaluated yet" : `held-out reward after batch ${batch}`;

const percent = (share: number) => `${(100 * share).toFixed(3)}%`;

function Track({ row }: { row: LineageRow }) {
  const { run, parentY } = row;
  const y = percent(row.y);
  return (
    <g class={`lineage-track ${run.generation === 0 ? "current" : ""}`}>
      {parentY !== null && (
        <line
          class={run.forked_batch === null ? "copied" : "forked"}
          x1={percent(row.begin)}
          x2={percent(row.begin)}
          y1={percent(parentY)}
          y2={y}
        />
      )}
      <line class="planned" x1={percent(row.begin)} x2={percent(row.end)} y1={y} y2={y} />
      <line class="done" x1={percent(row.begin)} x2={percent(row.done)} y1={y} y2={y} />
      {row.dots.map((dot) => (
        <circle
          key={dot.batch}
          class={dot.isForked ? "fork-point" : ""}
          cx={percent(dot.x)}
          cy={y}
          r={dot.isForked ? FORKED_DOT_PIXELS : DOT_PIXELS}
        >
          <title>
            {run.name}, checkpoint after batch {dot.batch}
          </title>
        </circle>
      ))}
    </g>
  );
}

function Axis({ layout }: { layout: LineageLayout }) {
  return (
    <div class="lineage-axis tiny faint num" aria-hidden="true">
      {layout.ticks.map((tick) => (
        <span key={tick.batch} style={{ left: percent(tick.x) }}>
          {tick.batch}
        </span>
      ))}
    </div>
  );
}
