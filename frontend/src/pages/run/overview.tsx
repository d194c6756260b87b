/** The run at a glance: life, before and after, the two curves that matter, the lanes, where lane time went. */

import { useEffect, useMemo } from "preact/hooks";
import { MetricPanel } from "../../charts/panel.tsx";
import { OVERVIEW_PANELS } from "../../charts/panels.ts";
import { unixSeconds } from "../../base/format.ts";
import { Timeline } from "../../timeline/timeline.tsx";
import { BubblePanel } from "./bubble_panel.tsx";
import { FailurePanel } from "./failure_panel.tsx";
import { Headline } from "./headline.tsx";
import { BeforeAfter } from "./before_after.tsx";
import { Stepper } from "./stepper.tsx";
import type { RunProps } from "./context.ts";

export function Overview({ store, run }: RunProps) {
  const origin = unixSeconds(run.started_at) ?? 0;
  const view = useMemo(() => ({ axis: "batch" as const, smoothing: 0, origin }), [origin]);
  useEffect(() => scrollTo({ top: 0 }), []);
  return (
    <div class="stack">
      <FailurePanel run={run} />
      <section class="card"><Stepper store={store} run={run} /></section>
      <div class="overview-top">
        <div class="stack">
          <Headline store={store} run={run} />
          {OVERVIEW_PANELS.map((panel) => (
            <MetricPanel key={panel.id} panel={panel} store={store.metrics} view={view} height={170} />
          ))}
        </div>
        <BeforeAfter store={store} run={run} />
      </div>
      <section class="card" aria-label="Lanes">
        <div class="card-head"><h2>Lanes</h2><a class="small" href="#timeline">Full timeline</a></div>
        <Timeline store={store.timeline} live={!store.isTerminal.value} />
      </section>
      <BubblePanel store={store} run={run} />
    </div>
  );
}
