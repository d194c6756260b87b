/** How compared runs are named everywhere on the page. */

import type { ComparedRun } from "./compared_run.ts";

/** The colour of a run's curves, and its name. */
export function RunLabel({ run, colour }: ComparedRun) {
  return (
    <span class="compare-name">
      <i class="compare-swatch" style={{ background: `var(${colour})` }} />
      <span class="truncate">{run.name}</span>
    </span>
  );
}

/** The head of a table with one column for each compared run. */
export function RunsHead({ of, runs }: { of: string; runs: readonly ComparedRun[] }) {
  return (
    <thead>
      <tr>
        <th>{of}</th>
        {runs.map((one) => (
          <th key={one.run.id}>
            <RunLabel {...one} />
          </th>
        ))}
      </tr>
    </thead>
  );
}
