/** How the lanes worked together: the plan, the timeline, lane time by class, seconds by lane, lending,
 * staleness, resizes, and where lanes are. */

import { useState } from "preact/hooks";
import type { LaneInfo, TimelineSpan } from "../../api/schema.ts";
import { Timeline } from "../../timeline/timeline.tsx";
import { Term } from "../../ui/term.tsx";
import { BorrowedLanes } from "./borrowed_lanes.tsx";
import { BubblePanel } from "./bubble_panel.tsx";
import type { RunProps } from "./context.ts";
import { FragmentInspector } from "./fragment_inspector.tsx";
import { fragmentOf } from "./fragment_steps.ts";
import { LaneSecondsPanel } from "./lane_seconds_panel.tsx";
import { LendingPanel } from "./lending_panel.tsx";
import { PlanPanel } from "./plan_panel.tsx";
import { ResizePanel } from "./resize_panel.tsx";
import { StalenessPanel } from "./staleness_panel.tsx";

export function TimelineTab({ store, run }: RunProps) {
  return (
    <div class="stack">
      <PlanPanel store={store} run={run} />
      <LanesOverTime store={store} run={run} />
      <BubblePanel store={store} run={run} />
      <LaneSecondsPanel store={store} run={run} />
      <LendingPanel store={store} run={run} />
      <BorrowedLanes store={store} run={run} />
      <StalenessPanel store={store} run={run} />
      <ResizePanel store={store} run={run} />
      <LaneTable store={store} run={run} />
    </div>
  );
}

/** The timeline, with the story of the fragment that was clicked beside it. */
function LanesOverTime({ store, run }: RunProps) {
  const [picked, setPicked] = useState<TimelineSpan | null>(null);
  const address = picked && fragmentOf(picked);
  return (
    <section class={`card ${address ? "with-inspector" : ""}`} aria-label="Lanes">
      <Timeline state={store.timeline} onPick={setPicked} trace={`/api/v1/runs/${run.id}/trace`} />
      {address && <FragmentInspector run={run} address={address} span={picked} onClose={() => setPicked(null)} />}
    </section>
  );
}

/** Whose card a lane computes on beside that lane's own work. */
function sharedInWords({ shares }: LaneInfo) {
  return shares === null ? null : <span class="muted"> shared with {shares}</span>;
}

function LaneTable({ store }: RunProps) {
  void store.timeline.version.value;
  const lanes = store.timeline.lanes.tracks.flatMap((track) => track.info ?? []);
  if (lanes.length === 0) return null;
  return (
    <section class="card flush" aria-label="Where lanes landed">
      <div class="table-wrap">
        <table>
          <thead>
            <tr>
              <th>
                <Term word="lane">Lane</Term>
              </th>
              <th>Role</th>
              <th>Node</th>
              <th>Device</th>
              <th class="right">Process</th>
            </tr>
          </thead>
          <tbody>
            {lanes.map((lane) => (
              <tr key={lane.lane}>
                <td>{lane.lane}</td>
                <td>{lane.role}</td>
                <td class="mono">{lane.node}</td>
                <td>
                  <span class="mono">{lane.device}</span>
                  {sharedInWords(lane)}
                </td>
                <td class="right num">{lane.pid}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
