/** Entry: puts each page's component into the shell that Django rendered.
 *
 *   <div data-page="run" data-run="…"></div>
 */

import { type ComponentChild, render } from "preact";
import { startClock } from "./base/clock.ts";
import { followSystemTheme } from "./base/palette.ts";
import { AuditPage } from "./pages/audit/audit_page.tsx";
import { ComparePage } from "./pages/compare/compare_page.tsx";
import { GpuPage } from "./pages/gpu/gpu_page.tsx";
import { HomePage } from "./pages/home/home_page.tsx";
import { LendingPage } from "./pages/lending/lending_page.tsx";
import { NewRunPage } from "./pages/new_run/new_run_page.tsx";
import { OccupancyPage } from "./pages/occupancy/occupancy_page.tsx";
import { PoolPage } from "./pages/pool/pool_page.tsx";
import { QueuePage } from "./pages/queue/queue_page.tsx";
import { RunPage } from "./pages/run/run_page.tsx";
import { RunsPage } from "./pages/runs/runs_page.tsx";
import { AccountPage } from "./pages/settings/account_page.tsx";
import { ProjectsPage } from "./pages/settings/projects_page.tsx";
import { PromptSetsPage } from "./pages/settings/prompt_sets_page.tsx";
import { UsagePage } from "./pages/usage/usage_page.tsx";

import { installShell } from "./shell/install_shell.tsx";

import "./styles/index.css";

const PAGES: Record<string, (data: DOMStringMap) => ComponentChild> = {
  home: () => <HomePage />,
  runs: () => <RunsPage />,
  "new-run": (data) => <NewRunPage from={data.from || null} />,
  run: (data) => <RunPage runId={data.run ?? ""} />,
  compare: () => <ComparePage />,
  pool: () => <PoolPage />,
  queue: (data) => <QueuePage pool={data.pool || null} />,
  gpu: (data) => <GpuPage gpuId={Number(data.gpu)} nodeId={Number(data.node)} />,
  occupancy: () => <OccupancyPage />,
  usage: () => <UsagePage />,
  audit: () => <AuditPage />,
  lending: () => <LendingPage />,
  "prompt-sets": () => <PromptSetsPage />,
  account: () => <AccountPage />,
  projects: () => <ProjectsPage />,
};

// Before the pages: they show the project that is chosen there.
installShell();

for (const element of document.querySelectorAll<HTMLElement>("[data-page]")) {
  const page = PAGES[element.dataset.page ?? ""];
  if (!page) throw new Error(`no page is called ${element.dataset.page}`);
  element.replaceChildren();
  render(page(element.dataset), element);
}

startClock();
followSystemTheme();
