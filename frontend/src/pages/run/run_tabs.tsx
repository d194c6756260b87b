/** The tabs of the run page. The overview comes with the page; each other is a module of its own, fetched when the page
 * has nothing else to do or when it is opened, so that no reader of the overview waits for the code of the others. */

import type { FunctionComponent } from "preact";
import { useResource } from "../../ui/resource.ts";
import { Failed, Loading } from "../../ui/states.tsx";
import type { RunProps } from "./context.ts";
import { Overview } from "./overview.tsx";

type Tab = FunctionComponent<RunProps>;

interface RunTab {
  readonly id: string;
  readonly label: string;
  readonly load: () => Promise<Tab>;
}

/** A browser that is never idle fetches the tabs after this time. */
const IDLE_MILLISECONDS = 3000;

export const RUN_TABS: readonly RunTab[] = [
  { id: "overview", label: "Overview", load: async () => Overview },
  { id: "timeline", label: "Pipeline", load: async () => (await import("./timeline_tab.tsx")).TimelineTab },
  { id: "replay", label: "Replay", load: async () => (await import("../replay/replay_tab.tsx")).ReplayTab },
  { id: "samples", label: "Samples", load: async () => (await import("./samples_tab.tsx")).SamplesTab },
  { id: "prompts", label: "Prompts", load: async () => (await import("./prompts_tab.tsx")).PromptsTab },
  { id: "metrics", label: "Metrics", load: async () => (await import("./metrics_tab.tsx")).MetricsTab },
  { id: "logs", label: "Logs & events", load: async () => (await import("./logs_tab.tsx")).LogsTab },
  {
    id: "checkpoints",
    label: "Checkpoints & weights",
    load: async () => (await import("../checkpoints/checkpoints_tab.tsx")).CheckpointsTab,
  },
  { id: "spec", label: "Spec & notes", load: async () => (await import("./spec_tab.tsx")).SpecTab },
];

/** Those whose code is here: they are shown at once. */
const loaded = new Map<string, Tab>([["overview", Overview]]);

async function loadTab({ id, load }: RunTab): Promise<Tab> {
  const tab = loaded.get(id) ?? (await load());
  loaded.set(id, tab);
  return tab;
}

/** Called once the page shows something: a tab is opened without waiting then. */
export function loadTabsWhenIdle(): void {
  const load = () => {
    // One that fails is asked for again, and told of, when it is opened.
    for (const tab of RUN_TABS) loadTab(tab).catch(() => undefined);
  };
  // Safari has no idle callback.
  if ("requestIdleCallback" in globalThis) requestIdleCallback(load, { timeout: IDLE_MILLISECONDS });
  else setTimeout(load, IDLE_MILLISECONDS);
}

/** The tab of this id, or the overview. */
export function RunTabContent({ id, ...props }: { id: string } & RunProps) {
  const tab = RUN_TABS.find((candidate) => candidate.id === id) ?? (RUN_TABS[0] as RunTab);
  const read = useResource(() => loadTab(tab), [tab.id]);
  const Content = loaded.get(tab.id);
  if (Content) return <Content {...props} />;
  if (read.error !== null) {
    return <Failed message={`${tab.label} could not be loaded: ${read.error}`} onRetry={read.reload} />;
  }
  return <Loading label={`Loading ${tab.label}`} />;
}
