/** The run page: header, tabs, and the store that keeps all of them live. The tab is kept in the address. */

import { useEffect, useMemo, useState } from "preact/hooks";
import { RunStore } from "../../live/run_store.ts";
import { Tabs } from "../../ui/controls.tsx";
import { Failed, Loading } from "../../ui/states.tsx";
import { CheckpointsTab } from "../checkpoints/checkpoints_tab.tsx";
import { ReplayTab } from "../replay/replay_tab.tsx";
import { RunHeader } from "./header.tsx";
import { LogsTab } from "./logs_tab.tsx";
import { MetricsTab } from "./metrics_tab.tsx";
import { Overview } from "./overview.tsx";
import { PromptsTab } from "./prompts_tab.tsx";
import { SamplesTab } from "./samples_tab.tsx";
import { SpecTab } from "./spec_tab.tsx";
import { TimelineTab } from "./timeline_tab.tsx";

const TABS = [
  { id: "overview", label: "Overview", show: Overview },
  { id: "timeline", label: "Pipeline", show: TimelineTab },
  { id: "replay", label: "Replay", show: ReplayTab },
  { id: "samples", label: "Samples", show: SamplesTab },
  { id: "prompts", label: "Prompts", show: PromptsTab },
  { id: "metrics", label: "Metrics", show: MetricsTab },
  { id: "logs", label: "Logs & events", show: LogsTab },
  { id: "checkpoints", label: "Checkpoints & weights", show: CheckpointsTab },
  { id: "spec", label: "Spec & notes", show: SpecTab },
] as const;

function tabFromAddress(): string {
  const wanted = location.hash.slice(1);
  return TABS.some((tab) => tab.id === wanted) ? wanted : "overview";
}

export function RunPage({ runId }: { runId: string }) {
  const store = useMemo(() => new RunStore(runId), [runId]);
  const [tab, setTab] = useState(tabFromAddress);
  useEffect(() => {
    void store.start();
    return () => store.stop();
  }, [store]);
  useEffect(() => {
    const follow = () => setTab(tabFromAddress());
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);

  const run = store.run.value;
  useEffect(() => {
    if (run) document.title = `${run.name} · ${run.state} · Tandem`;
  }, [run?.name, run?.state]);
  if (store.problem.value !== null) {
    return <Failed message={store.problem.value} onRetry={() => void store.start()} />;
  }
  if (!run || !store.loaded.value) return <Loading label="Loading the run" />;
  const Current = (TABS.find((candidate) => candidate.id === tab) ?? TABS[0]).show;
  const select = (id: string) => {
    history.replaceState(null, "", `#${id}`);
    setTab(id);
  };
  return (
    <div class="stack">
      <RunHeader store={store} run={run} />
      {run.warning && (
        <p class="notice warn small" role="status">
          {run.warning}
        </p>
      )}
      <Tabs tabs={TABS} current={tab} onSelect={select} />
      <div role="tabpanel" aria-labelledby={`tab-${tab}`}>
        <Current store={store} run={run} />
      </div>
    </div>
  );
}
