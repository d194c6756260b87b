/** A compared run as it is named everywhere on the page: the colour of its curves, and its name. */

import type { ComparedRun } from "./compared_run.ts";

export function RunLabel({ run, colour }: ComparedRun) {
  return (
    <span class="compare-name">
      <i class="compare-swatch" style={{ background: `var(${colour})` }} />
      <span class="truncate">{run.name}</span>
    </span>
  );
}
