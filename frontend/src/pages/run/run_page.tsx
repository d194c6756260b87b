/** The run page: header, tabs, and the store that keeps all of them live. The tab is kept in the address. */

import { useEffect, useMemo, useState } from "preact/hooks";
import type { FirstRead } from "../../live/first_read.ts";
import { RunStore } from "../../live/run_store.ts";
import { Tabs } from "../../ui/controls.tsx";
import { Failed, Loading } from "../../ui/states.tsx";
import { RunHeader } from "./header.tsx";
import { loadTabsWhenIdle, RUN_TABS, RunTabContent } from "./run_tabs.tsx";

function tabFromAddress(): string {
  const wanted = location.hash.slice(1);
  return RUN_TABS.some((tab) => tab.id === wanted) ? wanted : "overview";
}

/** `first` was asked for while this module was on its way. */
export function RunPage({ runId, first }: { runId: string; first: Promise<FirstRead> }) {
  const store = useMemo(() => new RunStore(runId), [runId]);
  const [tab, setTab] = useState(tabFromAddress);
  useEffect(() => {
    void store.start(first);
    return () => store.stop();
  }, [store]);
  useEffect(() => {
    const follow = () => setTab(tabFromAddress());
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);

  const isLoaded = store.loaded.value;
  useEffect(() => {
    if (isLoaded) loadTabsWhenIdle();
  }, [isLoaded]);
  const run = store.run.value;
  useEffect(() => {
    if (run) document.title = `${run.name} · ${run.state} · Tandem`;
  }, [run?.name, run?.state]);
  if (store.problem.value !== null) {
    return <Failed message={store.problem.value} onRetry={() => void store.start()} />;
  }
  if (!run || !isLoaded) return <Loading label="Loading the run" />;
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
      <Tabs tabs={RUN_TABS} current={tab} onSelect={select} />
      <div role="tabpanel" aria-labelledby={`tab-${tab}`}>
        <RunTabContent id={tab} store={store} run={run} />
      </div>
    </div>
  );
}
