/** Entry: puts each page's component into the shell that Django rendered. Each page is a module of its own, which the
 * shell names for the browser to fetch beside this one, so that no page waits for the code of another.
 *
 *   <div data-page="run" data-run="…"></div>
 */

import { type ComponentChild, render } from "preact";
import { messageOf } from "./api/client.ts";
import { startClock } from "./base/clock.ts";
import { followSystemTheme } from "./base/palette.ts";
import { readFirst } from "./live/first_read.ts";
import { installShell } from "./shell/install_shell.tsx";
import { readProjectChoice } from "./shell/project_choice.ts";
import { Failed } from "./ui/states.tsx";

import "./styles/index.css";

const PAGES: Record<string, (data: DOMStringMap) => Promise<ComponentChild>> = {
  home: () => import("./pages/home/home_page.tsx").then(({ HomePage }) => <HomePage />),
  runs: () => import("./pages/runs/runs_page.tsx").then(({ RunsPage }) => <RunsPage />),
  "new-run": (data) =>
    import("./pages/new_run/new_run_page.tsx").then(({ NewRunPage }) => <NewRunPage from={data.from || null} />),
  run: ({ run = "" }) => {
    const first = readFirst(run);
    return import("./pages/run/run_page.tsx").then(({ RunPage }) => <RunPage runId={run} first={first} />);
  },
  compare: () => import("./pages/compare/compare_page.tsx").then(({ ComparePage }) => <ComparePage />),
  sweeps: () => import("./pages/sweeps/sweeps_page.tsx").then(({ SweepsPage }) => <SweepsPage />),
  "new-sweep": (data) =>
    import("./pages/sweeps/new_sweep_page.tsx").then(({ NewSweepPage }) => (
      <NewSweepPage from={data.from || null} again={data.again || null} />
    )),
  sweep: ({ sweep = "" }) =>
    import("./pages/sweeps/sweep_page.tsx").then(({ SweepPage }) => <SweepPage sweepId={sweep} />),
  pool: () => import("./pages/pool/pool_page.tsx").then(({ PoolPage }) => <PoolPage />),
  queue: (data) =>
    import("./pages/queue/queue_page.tsx").then(({ QueuePage }) => <QueuePage pool={data.pool || null} />),
  gpu: (data) =>
    import("./pages/gpu/gpu_page.tsx").then(({ GpuPage }) => (
      <GpuPage gpuId={Number(data.gpu)} nodeId={Number(data.node)} />
    )),
  occupancy: () => import("./pages/occupancy/occupancy_page.tsx").then(({ OccupancyPage }) => <OccupancyPage />),
  usage: () => import("./pages/usage/usage_page.tsx").then(({ UsagePage }) => <UsagePage />),
  audit: () => import("./pages/audit/audit_page.tsx").then(({ AuditPage }) => <AuditPage />),
  retention: () => import("./pages/retention/retention_page.tsx").then(({ RetentionPage }) => <RetentionPage />),
  lending: () => import("./pages/lending/lending_page.tsx").then(({ LendingPage }) => <LendingPage />),
  "prompt-sets": () => import("./pages/settings/prompt_sets_page.tsx").then(({ PromptSetsPage }) => <PromptSetsPage />),
  account: () => import("./pages/settings/account_page.tsx").then(({ AccountPage }) => <AccountPage />),
  "security-key": ({ does, asked = "", from = "", label = "" }) =>
    import("./pages/settings/security_key.tsx").then(({ SecurityKey }) => (
      <SecurityKey does={does as "create" | "get" | "login"} asked={asked} from={from} label={label} />
    )),
  projects: () => import("./pages/settings/projects_page.tsx").then(({ ProjectsPage }) => <ProjectsPage />),
};

async function show(page: Promise<ComponentChild>, element: HTMLElement): Promise<void> {
  // Django's "Loading" stands until there is something to show.
  const content = await page.catch((error: unknown) => (
    <Failed
      message={`The page's script could not be loaded: ${messageOf(error)}. Is the server reachable?`}
      onRetry={() => location.reload()}
    />
  ));
  element.replaceChildren();
  render(content, element);
}

readProjectChoice();
// Before the shell, whose reads would come before those that the page waits for.
for (const element of document.querySelectorAll<HTMLElement>("[data-page]")) {
  const page = PAGES[element.dataset.page ?? ""];
  if (!page) throw new Error(`no page is called ${element.dataset.page}`);
  void show(page(element.dataset), element);
}

installShell();
startClock();
followSystemTheme();
