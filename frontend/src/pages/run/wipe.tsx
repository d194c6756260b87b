/** Two versions of one sample over each other: a line that is drawn across shows the earlier at its left, the later at
 * its right. */

import { useState } from "preact/hooks";
import type { Sample } from "../../api/schema.ts";
import { Player } from "./media.tsx";

export function Wipe({ base, sample }: { base: Sample; sample: Sample }) {
  const [share, setShare] = useState(50);
  return (
    <div class="wipe" style={{ "--share": `${share}%` }}>
      <Player sample={sample} alt={`Sample for the prompt “${sample.prompt}”, version ${sample.policy_version}`} />
      <div class="wipe-base">
        <Player sample={base} alt={`The same, version ${base.policy_version}`} />
      </div>
      <span class="wipe-name">v{base.policy_version}</span>
      <span class="wipe-name later">v{sample.policy_version}</span>
      <input
        type="range"
        min={0}
        max={100}
        value={share}
        aria-label="Share of the earlier version that is seen"
        onInput={(event) => setShare(Number(event.currentTarget.value))}
      />
    </div>
  );
}
