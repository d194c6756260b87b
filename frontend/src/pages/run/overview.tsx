/** The run at a glance: its states, samples before and after, the main curves, the timeline, lane time by class. */

import { useEffect, useMemo } from "preact/hooks";
import { unixSeconds } from "../../base/format.ts";
import { watchedVerdicts } from "../../base/rewards.ts";
import { MetricPanel } from "../../charts/panel.tsx";
import { measuredPanels, overviewPanels } from "../../charts/panels.ts";
import { Timeline } from "../../timeline/timeline.tsx";
import { BeforeAfter } from "./before_after.tsx";
import { BubblePanel } from "./bubble_panel.tsx";
import type { RunProps } from "./context.ts";
import { FailurePanel } from "./failure_panel.tsx";
import { Headline } from "./headline.tsx";
import { Stepper } from "./stepper.tsx";

export function Overview({ store, run }: RunProps) {
  const origin = unixSeconds(run.started_at) ?? 0;
  const view = useMemo(() => ({ axis: "batch" as const, smoothing: 0, origin }), [origin]);
  const verdicts = watchedVerdicts(run.spec).join(",");
  const panels = useMemo(() => overviewPanels(verdicts ? verdicts.split(",") : []), [verdicts]);
  void store.metrics.version.value;
  const shown = measuredPanels(panels, store.metrics.keys);
  const endedBare = store.hasEnded.value && store.metrics.keys.size === 0;
  useEffect(() => scrollTo({ top: 0 }), []);
  return (
    <div class="stack">
      <FailurePanel run={run} />
      <section class="card">
        <Stepper store={store} run={run} />
      </section>
      {!endedBare && (
        <>
          <Headline store={store} run={run} />
          <div class="overview-top" style={{ gridTemplateRows: `repeat(${shown.length - 1}, min-content) 1fr` }}>
            {shown.map((panel) => (
              <MetricPanel key={panel.id} panel={panel} store={store.metrics} view={view} height={158} />
            ))}
            <BeforeAfter store={store} run={run} maxRows={shown.length} />
          </div>
        </>
      )}
      <section class="card" aria-label="Lanes">
        <div class="card-head">
          <h2>Lanes</h2>
          <a class="small" href="#timeline">
            The pipeline in full
          </a>
        </div>
        <Timeline state={store.timeline} />
      </section>
      <BubblePanel store={store} run={run} />
    </div>
  );
}
