/** Every run the user may see, live, filtered by the server; two or more chosen ones can be compared. */

import { useEffect, useRef, useState } from "preact/hooks";
import { messageOf } from "../../api/client.ts";
import { api, type RunFilter } from "../../api/endpoints.ts";
import type { ListedRun, Project, ProjectsFrame, RunRow } from "../../api/schema.ts";
import { serverNow } from "../../base/clock.ts";
import { oncePerFrame } from "../../base/frames.ts";

import { type Connection, LiveSocket } from "../../live/live_socket.ts";
import { chosenProject } from "../../shell/project_choice.ts";
import { LiveBadge } from "../../ui/live_badge.tsx";

import { useResource } from "../../ui/resource.ts";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { attempt } from "../../ui/toasts.tsx";
import { Filters, filterFromAddress, rememberFilter } from "./filters.tsx";
import { RunsTable } from "./runs_table.tsx";

interface Listed {
  readonly runs: readonly ListedRun[];
  readonly next: string | null;
}

/** The list of a filter, kept live. */
function useRuns(filter: RunFilter) {
  const [listed, setListed] = useState<Listed | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [connection, setConnection] = useState<Connection>("connecting");
  const [heardAt, setHeardAt] = useState(serverNow);
  const latest = useRef(filter);
  latest.current = filter;

  const read = async () => {
    try {
      const page = await api.listRuns(latest.current);
      setListed({ runs: page.results, next: page.next });
      setError(null);
    } catch (failure) {
      setError(messageOf(failure));
    }
  };
  useEffect(() => {
    rememberFilter(filter);
    void read();
  }, [filter]);
  useEffect(() => {
    const onConnection = (now: Connection) => {
      setConnection(now);
      setHeardAt(serverNow());
    };
    return follow(setListed, onConnection, () => void read());
  }, []);

  const more = () =>
    attempt(async () => {
      if (!listed?.next) return;
      const cursor = new URL(listed.next, location.href).searchParams.get("cursor") ?? undefined;
      const page = await api.listRuns(latest.current, cursor);
      setListed({ runs: [...listed.runs, ...page.results], next: page.next });
    });
  return { listed, error, connection, heardAt, read, more };
}

export function RunsPage() {
  const [filter, setFilter] = useState<RunFilter>(firstFilter);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const projects = useResource(api.projects, []);
  const ofRail = chosenProject.value;
  const before = useRef(ofRail);
  useEffect(() => {
    if (before.current === ofRail) return;
    before.current = ofRail;
    setFilter((filter) => ({ ...filter, project: ofRail ?? undefined }));
  }, [ofRail]);
  const { listed, error, connection, heardAt, read, more } = useRuns(filter);
  const toggle = (id: string) => {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
    setChosen(next);
  };
  return (
    <>
      <div class="page-head">
        <div class="row">
          <h1>Runs</h1>
          <LiveBadge connection={connection} heardAt={heardAt} />
        </div>
        {chosen.size > 0 && (
          <a class="button" aria-disabled={chosen.size < 2} href={`/compare?runs=${[...chosen].join(",")}`}>
            Compare {chosen.size} {chosen.size === 1 ? "run" : "runs"}
          </a>
        )}
        <a class="button primary" href="/runs/new">
          New run
        </a>
      </div>
      <Filters filter={filter} projects={projects.value ?? []} onChange={setFilter} />
      {error !== null && <Failed message={error} onRetry={() => void read()} />}
      <section class="card flush" aria-label="Runs">
        {listed === null && error === null && (
          <div style={{ padding: "16px" }}>
            <Loading />
          </div>
        )}
        {listed?.runs.length === 0 && <NoRuns filter={filter} projects={projects.value ?? []} />}
        {listed !== null && listed.runs.length > 0 && (
          <RunsTable
            runs={listed.runs}
            chosen={chosen}
            onToggle={toggle}
            onTag={(tag) => setFilter({ ...filter, tag })}
          />
        )}
      </section>
      {listed?.next && (
        <p class="row" style={{ justifyContent: "center", marginTop: "12px" }}>
          <button type="button" class="button" onClick={() => void more()}>
            Show more
          </button>
        </p>
      )}
    </>
  );
}

/** That of the address; the project is the one chosen in the rail where the address names none. */
function firstFilter(): RunFilter {
  const filter = filterFromAddress();
  return { ...filter, project: filter.project ?? chosenProject.peek() ?? undefined };
}

/** Apply changes to the rows shown once per frame; a run not listed yet makes the list be read again. */
function follow(
  setListed: (update: (listed: Listed | null) => Listed | null) => void,
  onConnection: (connection: Connection) => void,
  readAgain: () => void,
): () => void {
  const changes = new Map<string, RunRow>();
  const apply = oncePerFrame(() => {
    const arrived = new Map(changes);
    changes.clear();
    setListed((listed) => {
      if (!listed) return listed;
      const known = new Set(listed.runs.map((run) => run.id));
      if ([...arrived.keys()].some((id) => !known.has(id))) readAgain();
      return { ...listed, runs: listed.runs.map((run) => ({ ...run, ...arrived.get(run.id) })) };
    });
  });
  const socket = new LiveSocket<ProjectsFrame>(() => "/ws/v1/projects", {
    onFrame: ({ run }) => {
      changes.set(run.id, run);
      apply();
    },
    onReconnected: readAgain,
    onConnection,
  });
  return socket.open();
}

function NoRuns({ filter, projects }: { filter: RunFilter; projects: readonly Project[] }) {
  const isFiltered = Boolean(filter.search || filter.state || filter.tag || filter.project || filter.archived);
  if (isFiltered) return <Empty title="No run matches these filters" />;
  if (projects.length === 0) {
    return (
      <Empty title="You are in no project yet">
        Ask an owner to add you, or <a href="/projects">create a project</a>.
      </Empty>
    );
  }
  return (
    <Empty title="No runs yet">
      A run trains a diffusion model with reinforcement learning and shows every second of it here.{" "}
      <a href="/runs/new">Start the first one</a>.
    </Empty>
  );
}
