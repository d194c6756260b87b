/** Home: the user's and the team's runs, the pool, and what needs somebody, each with the age of its data. */

import { useState } from "preact/hooks";
import { api } from "../../api/endpoints.ts";
import type { Home, HomeGroup } from "../../api/schema.ts";
import { seconds } from "../../base/clock.ts";
import { ago, unixSeconds } from "../../base/format.ts";
import { useProjectChanges } from "../../live/project_changes.ts";
import { poolUse } from "../../shell/pool_meter.tsx";
import { chosenProject } from "../../shell/project_choice.ts";
import { Segmented } from "../../ui/controls.tsx";
import { LiveBadge } from "../../ui/live_badge.tsx";
import { useResource } from "../../ui/resource.ts";
import { Stat, Stats } from "../../ui/stat.tsx";
import { Failed, Loading } from "../../ui/states.tsx";
import { Alerts, PoolLanes } from "./home_panels.tsx";
import { listOf, RunGroupPanel } from "./run_group_panel.tsx";

/** Changes of runs come in bursts; with none, alerts and ages are read again so often. */
const [AFTER_CHANGE_MILLISECONDS, REFRESH_MILLISECONDS] = [1500, 20_000];

type Whose = "mine" | "team";

export function HomePage() {
  const project = chosenProject.value ?? undefined;
  const [whose, setWhose] = useState<Whose>("team");
  const home = useResource(() => api.home(project), [project]);
  const pools = useResource(api.pools, [home.value]);
  const { connection, heardAt } = useProjectChanges({
    readAgain: home.reload,
    afterMilliseconds: AFTER_CHANGE_MILLISECONDS,
    everyMilliseconds: REFRESH_MILLISECONDS,
  });
  return (
    <div class="stack">
      <div class="page-head home-head">
        <div class="row">
          <h1>Home</h1>
          <LiveBadge connection={connection} heardAt={heardAt} />
        </div>
        <Segmented
          label="Whose runs"
          choices={[
            { value: "team", label: "My projects" },
            { value: "mine", label: "Only mine" },
          ]}
          value={whose}
          onChange={setWhose}
        />
        <a class="button primary" href="/runs/new">
          New run
        </a>
      </div>
      {home.error !== null && <Failed message={home.error} onRetry={home.reload} />}
      <Figures home={home.value} use={pools.value && poolUse(pools.value)} whose={whose} />
      <div class="grid">
        <div class="span-8 stack">
          {home.value === undefined && home.error === null && <Loading />}
          {home.value?.groups.map((group) => (
            <RunGroupPanel key={group.group} group={group} onlyMine={whose === "mine"} />
          ))}
        </div>
        <div class="span-4 stack">
          {home.value && <Alerts alerts={home.value.alerts} />}
          {pools.value && <PoolLanes pools={pools.value} />}
        </div>
      </div>
    </div>
  );
}

interface FiguresProps {
  readonly home: Home | undefined;
  readonly use: ReturnType<typeof poolUse> | undefined;
  readonly whose: Whose;
}

function Figures({ home, use, whose }: FiguresProps) {
  const group = (name: HomeGroup["group"]) => home?.groups.find((one) => one.group === name);
  const figure = (name: HomeGroup["group"]) => {
    const found = group(name);
    const value = found && (whose === "mine" ? found.number_mine : found.number);
    return { value: value ?? null, note: found && whose === "team" ? `${found.number_mine} mine` : "" };
  };
  const reported = unixSeconds(home?.pool_reported_at);
  const failed = figure("failed");
  return (
    <Stats label="Now">
      <Stat
        label="Running"
        definition="Runs that hold lanes now: starting, running, paused or stopping."
        {...figure("running")}
        href={listOf("running", whose === "mine")}
      />
      <Stat
        label="Waiting"
        definition="Runs in the queue of their pool, for lanes that are not free yet."
        {...figure("waiting")}
        href={listOf("waiting", whose === "mine")}
      />
      <Stat
        label="Failed, 7 days"
        definition="Runs that ended as failed within the last 7 days; archived ones are not counted."
        {...failed}
        tone={failed.value ? "bad" : undefined}
        href={listOf("failed", whose === "mine")}
      />
      <Stat
        label="Finished, 7 days"
        definition="Runs that completed, or were stopped by a user, within the last 7 days; archived ones are not counted."
        {...figure("finished")}
        href={listOf("finished", whose === "mine")}
      />
      <Stat
        label="Lanes in use"
        definition="Lanes that a run, a preview or a test holds now, of all lanes of all pools."
        value={use?.numInUse ?? null}
        unit={use && `of ${use.numLanes}`}
        note={use && (use.numWaiting === 1 ? "1 run waits" : `${use.numWaiting} runs wait`)}
        href="/pool"
      />
      <Stat
        label="Age of pool data"
        definition="Time since the node agent last reported the pool's nodes, GPUs and lanes."
        value={reported === null ? null : ago(Math.max(0, seconds.value - reported)).replace(/ ago$/, "")}
        note={reported === null && home ? "no report yet" : ""}
      />
    </Stats>
  );
}
