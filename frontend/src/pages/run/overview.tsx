/** The run at a glance: what it does and what holds it up, six figures, the main curves, samples before and after. */

import { useEffect, useMemo } from "preact/hooks";
import { api } from "../../api/endpoints.ts";
import { unixSeconds } from "../../base/format.ts";
import { watchedVerdicts } from "../../base/rewards.ts";
import { MetricPanel } from "../../charts/panel.tsx";
import { overviewPanels } from "../../charts/panels.ts";
import { Timeline } from "../../timeline/timeline.tsx";
import { useLiveResource } from "../../ui/resource.ts";
import { BeforeAfter } from "./before_after.tsx";
import type { RunProps } from "./context.ts";
import { FailurePanel } from "./failure_panel.tsx";
import { HackingNotice } from "./hacking_notice.tsx";
import { Headline } from "./headline.tsx";
import { MemoryNotice } from "./memory_notice.tsx";
import { SlowLanesNotice } from "./slow_lanes_notice.tsx";
import { StallNotice } from "./stall_notice.tsx";
import { laneStarts } from "./start_up.ts";
import { StartUpPanel } from "./start_up_panel.tsx";
import { StatusLine } from "./status_line.tsx";

/** Small multiples: two rows of four are seen at once with what stands above them. */
const CHART_HEIGHT = 104;

export function Overview({ store, run }: RunProps) {
  const origin = unixSeconds(run.started_at) ?? 0;
  const view = useMemo(() => ({ axis: "batch" as const, smoothing: 0, origin }), [origin]);
  const verdicts = watchedVerdicts(run.spec).join(",");
  const panels = useMemo(() => overviewPanels(verdicts ? verdicts.split(",") : []), [verdicts]);
  const bubbles = useLiveResource(() => api.bubbles(run.id), [run.id], store.timeline.version);
  void store.metrics.version.value;
  const endedBare = store.hasEnded.value && store.metrics.keys.size === 0;
  // Before there is a curve the charts' place shows the lanes coming up: the same place, so that nothing moves.
  const isStarting = run.state === "starting" && store.metrics.keys.size === 0;
  useEffect(() => scrollTo({ top: 0 }), []);
  return (
    <div class="overview">
      <FailurePanel run={run} />
      <StatusLine store={store} run={run} bubbles={bubbles.value} />
      <StallNotice events={store.events.items.value} />
      <MemoryNotice events={store.events.items.value} />
      <SlowLanesNotice events={store.events.items.value} />
      <HackingNotice events={store.events.items.value} />
      {!endedBare && (
        <>
          <Headline store={store} run={run} bubbles={bubbles.value} />
          <div class="small-charts">
            {isStarting && <StartUpPanel starts={laneStarts(store.events.items.value, run.attempt)} />}
            {panels.map((panel) => (
              <MetricPanel key={panel.id} panel={panel} store={store.metrics} view={view} height={CHART_HEIGHT} />
            ))}
          </div>
          <BeforeAfter store={store} run={run} />
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
    </div>
  );
}
