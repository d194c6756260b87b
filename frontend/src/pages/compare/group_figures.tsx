/** Headline figures of each group of runs that differ only in their seed, against one of the groups. */

import { useState } from "preact/hooks";
import { COMPARED_FIGURES, type ComparedFigure } from "./headline_comparison.ts";
import { difference, isWithinNoise, type SeedGroup, type Summary, summaryOf } from "./seed_groups.ts";

export function GroupFigures({ groups, hidden }: { groups: readonly SeedGroup[]; hidden: ReadonlySet<string> }) {
  const [chosen, setChosen] = useState(0);
  const baseline = groups[chosen] ?? groups[0];
  return (
    <section class="card flush" aria-label="Figures">
      <div class="card-head">
        <h2>Figures</h2>
        <span class="tiny faint">mean ± standard deviation over seeds; noise at 95 % by Student's t</span>
        {groups.length > 1 && (
          <label class="small compare-against">
            Against
            <select value={String(chosen)} onChange={(event) => setChosen(Number(event.currentTarget.value))}>
              {groups.map((group, index) => (
                <option key={group.colour} value={String(index)}>
                  {group.name}
                </option>
              ))}
            </select>
          </label>
        )}
      </div>
      <div class="table-wrap" tabIndex={0} role="region" aria-label="Figures of each group">
        <table class="compare-figures">
          <thead>
            <tr>
              <th>Runs</th>
              {COMPARED_FIGURES.map(({ label, help }) => (
                <th key={label} class="right" title={help}>
                  {label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {groups.map((group) => (
              <tr key={group.colour}>
                <th scope="row">
                  <Members group={group} hidden={hidden} />
                </th>
                {COMPARED_FIGURES.map((figure) => (
                  <td key={figure.label} class="right num">
                    <Cell figure={figure} group={group} baseline={baseline} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Members({ group, hidden }: { group: SeedGroup; hidden: ReadonlySet<string> }) {
  const numHidden = group.runs.filter(({ run }) => hidden.has(run.id)).length;
  const seeds = group.runs.map(({ run }) => run.spec.seed).join(", ");
  return (
    <>
      <span class="compare-name">
        {group.runs.map(({ run, colour }) => (
          <i key={run.id} class="compare-swatch" style={{ background: `var(${colour})` }} />
        ))}
        {group.name}
      </span>
      <span class="tiny faint">
        seed{group.runs.length > 1 ? "s" : ""} {seeds}
        {numHidden > 0 && `; ${numHidden} hidden below, counted here`}
      </span>
    </>
  );
}

interface CellProps {
  readonly figure: ComparedFigure;
  readonly group: SeedGroup;
  readonly baseline: SeedGroup | undefined;
}

function Cell({ figure, group, baseline }: CellProps) {
  const summary = summaryOf(group.runs.map(figure.of));
  if (!summary) return <span class="faint">–</span>;
  const other = baseline && baseline !== group ? summaryOf(baseline.runs.map(figure.of)) : null;
  return (
    <>
      {figure.text(summary.mean)}
      {summary.spread !== null && <span class="faint"> ± {figure.text(summary.spread)}</span>}
      {other && <Delta figure={figure} summary={summary} other={other} />}
    </>
  );
}

function Delta({ figure, summary, other }: { figure: ComparedFigure; summary: Summary; other: Summary }) {
  const delta = difference(summary, other);
  const tone =
    !figure.isOptimised || delta.noise === null || isWithinNoise(delta) ? "" : delta.value > 0 ? "up" : "down";
  const size = figure.text(Math.abs(delta.value));
  return (
    <span class={`compare-delta tiny ${tone}`}>
      {delta.value === 0 ? "the same" : `${delta.value > 0 ? "+" : "−"}${size}`}
      <span class="faint" title="A difference up to this comes about by the choice of seeds alone, 19 times out of 20">
        {delta.noise === null
          ? "noise unknown: one seed each"
          : `${isWithinNoise(delta) ? "within" : "beyond"} noise of ${figure.text(delta.noise)}`}
      </span>
    </span>
  );
}
