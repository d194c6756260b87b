/** Where every second of every lane went, of the whole run or of its last minutes. It follows the spans that arrive. */

import { useState } from "preact/hooks";
import { api } from "../../api/endpoints.ts";
import { serverNow } from "../../base/clock.ts";
import { BubbleBars } from "../../timeline/bubble_bars.tsx";
import { Segmented } from "../../ui/controls.tsx";
import { useLiveResource } from "../../ui/resource.ts";
import { Failed, Loading } from "../../ui/states.tsx";
import { Terms } from "../../ui/term.tsx";
import type { RunProps } from "./context.ts";
import { isInStep, StepLoss } from "./step_loss.tsx";

const RECENT_SECONDS = 120;

export function BubblePanel({ store, run }: RunProps) {
  const [recent, setRecent] = useState(false);
  const isRecent = recent && !store.hasEnded.value;
  const from = () => (isRecent ? serverNow() - RECENT_SECONDS : undefined);
  const bubbles = useLiveResource(() => api.bubbles(run.id, from()), [run.id, isRecent], store.timeline.version);
  const order = store.timeline.lanes.tracks.map((track) => track.lane);
  return (
    <section class="card" aria-label="Where lane time went">
      <div class="card-head">
        <h2>
          <Terms>Where lane time went</Terms>
        </h2>
        {!store.hasEnded.value && (
          <Segmented
            label="Which part of the run"
            value={isRecent ? "recent" : "all"}
            onChange={(value) => setRecent(value === "recent")}
            choices={[
              { value: "all", label: "Whole run" },
              { value: "recent", label: "Last 2 min" },
            ]}
          />
        )}
      </div>
      {bubbles.error !== null && <Failed message={bubbles.error} onRetry={bubbles.reload} />}
      {isInStep(run.spec) && <StepLoss metrics={store.metrics} />}
      {bubbles.value ? <BubbleBars bubbles={bubbles.value} order={order} /> : bubbles.error === null && <Loading />}
    </section>
  );
}
