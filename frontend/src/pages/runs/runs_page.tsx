/** Every run the user may see: filtered, ordered and grouped by the server, read as one scrolls, and kept live. */

import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { api } from "../../api/endpoints.ts";
import type { ProjectsFrame, RunRow } from "../../api/schema.ts";
import { serverNow } from "../../base/clock.ts";
import { oncePerFrame } from "../../base/frames.ts";
import { type Connection, LiveSocket } from "../../live/live_socket.ts";
import { chooseProject, chosenProject } from "../../shell/project_choice.ts";
import { LiveBadge } from "../../ui/live_badge.tsx";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { BulkBar } from "./bulk_bar.tsx";
import { Filters } from "./filters.tsx";
import { isFiltered, orderedBy, queryOf, type RunView, searchOfView, viewFromSearch } from "./run_view.ts";
import { RunsTable } from "./runs_table.tsx";
import { TableRows } from "./table_rows.ts";

/** New and moved runs come in bursts: the table is read again this long after one. */
const AFTER_CHANGE_MILLISECONDS = 1000;

/** The view of the address; a project that it names becomes the one chosen in the rail. */
function firstView(): RunView {
  const project = new URLSearchParams(location.search).get("project");
  if (project !== null) chooseProject(project);
  return viewFromSearch(location.search);
}

/** The rows of a view and of the rail's project, kept live. */
function useRows(view: RunView) {
  const project = chosenProject.value ?? undefined;
  const rows = useMemo(() => new TableRows(api.runTable), []);
  const [connection, setConnection] = useState<Connection>("connecting");
  const [heardAt, setHeardAt] = useState(serverNow);
  useEffect(() => {
    history.replaceState(null, "", location.pathname + searchOfView(view));
    rows.show({ ...queryOf(view), project });
  }, [rows, view, project]);
  useEffect(() => {
    const onConnection = (now: Connection) => {
      setConnection(now);
      setHeardAt(serverNow());
    };
    return follow(rows, onConnection);
  }, [rows]);
  return { rows, connection, heardAt };
}

/** Apply changes to the rows shown once per frame; a run that is not among them makes the table be read again. */
function follow(rows: TableRows, onConnection: (connection: Connection) => void): () => void {
  const changes = new Map<string, RunRow>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const apply = oncePerFrame(() => {
    const arrived = new Map(changes);
    changes.clear();
    if (!rows.apply(arrived)) return;
    timer ??= setTimeout(() => {
      timer = undefined;
      rows.readAgain();
    }, AFTER_CHANGE_MILLISECONDS);
  });
  const socket = new LiveSocket<ProjectsFrame>(() => "/ws/v1/projects", {
    onFrame: ({ run }) => {
      changes.set(run.id, run);
      apply();
    },
    onReconnected: () => rows.readAgain(),
    onConnection,
  });
  const close = socket.open();
  return () => {
    close();
    clearTimeout(timer);
  };
}

export function RunsPage() {
  const [view, setView] = useState<RunView>(firstView);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const { rows, connection, heardAt } = useRows(view);
  void rows.version.value;
  const latest = useRef(chosen);
  latest.current = chosen;
  const toggle = useCallback((id: string) => {
    const next = new Set(latest.current);
    if (!next.delete(id)) next.add(id);
    setChosen(next);
  }, []);
  return (
    <>
      <div class="page-head">
        <div class="row">
          <h1>
            Runs
            {rows.number !== null && <span class="count">{rows.number.toLocaleString("en-GB")}</span>}
          </h1>
          <LiveBadge connection={connection} heardAt={heardAt} />
        </div>
        <a class="button primary" href="/runs/new">
          New run
        </a>
      </div>
      <Filters view={view} onChange={setView} />
      {rows.error !== null && <Failed message={rows.error} onRetry={() => rows.readAgain()} />}
      <section class="runs-list" aria-label="Runs">
        {rows.number === null && rows.error === null && <Loading />}
        {rows.number === 0 && <NoRuns view={view} />}
        {rows.number !== null && rows.number > 0 && (
          <RunsTable
            rows={rows}
            view={view}
            chosen={chosen}
            onToggle={toggle}
            onTag={(tag) => setView({ ...view, tag })}
            onOrder={(order) => setView(orderedBy(view, order))}
          />
        )}
      </section>
      {chosen.size > 0 && (
        <BulkBar
          chosen={chosen}
          areArchived={view.archived}
          onDone={() => rows.readAgain()}
          onClear={() => setChosen(new Set())}
        />
      )}
    </>
  );
}

function NoRuns({ view }: { view: RunView }) {
  if (isFiltered(view)) return <Empty title="No run matches these filters" />;
  return (
    <Empty
      title="No runs yet"
      action={
        <a class="button" href="/runs/new">
          Start the first one
        </a>
      }
    >
      A run trains a diffusion model with reinforcement learning and shows every second of it here.
    </Empty>
  );
}
