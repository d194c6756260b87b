/** Logs and events: the errors first, then what the engine logged and what happened, in one list. */

import { useEffect, useMemo, useState } from "preact/hooks";
import { searchOf } from "../../api/client.ts";
import { api } from "../../api/endpoints.ts";
import { clock, unixSeconds } from "../../base/format.ts";
import { LogStore } from "../../live/log_store.ts";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import type { RunProps } from "./context.ts";
import { LogErrors } from "./log_errors.tsx";
import { LogFilters } from "./log_filters.tsx";
import { LogList } from "./log_list.tsx";
import { around, filterOf, isFiltered, type LogView, queryOf, sinceStart, viewOf } from "./log_view.ts";
import { Stepper } from "./stepper.tsx";

function useLogView(): [LogView, (next: LogView) => void] {
  const [view, setView] = useState(() => viewOf(location.search));
  const show = (next: LogView) => {
    history.replaceState(null, "", location.pathname + queryOf(next) + location.hash);
    setView(next);
  };
  return [view, show];
}

export function LogsTab({ store, run }: RunProps) {
  const [view, show] = useLogView();
  const log = useMemo(() => new LogStore((asked) => api.logs(run.id, asked)), [run.id]);
  const filter = filterOf(view);
  useEffect(() => {
    log.tell(store.logSeq.peek());
    void log.open(filter, view.at);
  }, [log, JSON.stringify(filter), view.at]);
  const seq = store.logSeq.value;
  useEffect(() => log.tell(seq), [log, seq]);
  useEffect(() => () => log.stop(), [log]);
  const start = unixSeconds(run.started_at ?? run.created_at) ?? 0;
  const timeText = (at: number) => (view.time === "start" ? sinceStart(at, start) : clock(at));
  const openAt = (streamSeq: number) => show(around(view, streamSeq));
  return (
    <div class="stack log-page">
      <LogErrors store={store} run={run} timeText={timeText} onOpen={openAt} />
      <div class="log-states">
        <Stepper store={store} run={run} />
      </div>
      <section class="logs" aria-label="Log">
        <div class="log-head">
          <LogFilters
            store={store}
            view={view}
            onChange={(change) => show({ ...view, at: undefined, ...change })}
            download={`/api/v1/runs/${run.id}/logs/text${searchOf({ ...filter })}`}
          />
        </div>
        {log.problem.value !== null && (
          <Failed message={log.problem.value} onRetry={() => void log.open(filter, view.at)} />
        )}
        <Entries log={log} view={view} timeText={timeText} onOpen={openAt} show={show} />
      </section>
    </div>
  );
}

interface EntriesProps {
  readonly log: LogStore;
  readonly view: LogView;
  readonly timeText: (at: number) => string;
  readonly onOpen: (streamSeq: number) => void;
  readonly show: (next: LogView) => void;
}

function Entries({ log, view, timeText, onOpen, show }: EntriesProps) {
  const isEmpty = log.entries.value.length === 0;
  if (isEmpty && log.problem.value !== null) return null;
  if (isEmpty && log.isLoading.value) return <Loading label="Loading the log" />;
  if (isEmpty && !log.hasOlder.value) {
    const all = (
      <button type="button" class="button small" onClick={() => show({ ...viewOf(""), time: view.time })}>
        Show everything
      </button>
    );
    if (isFiltered(view)) return <Empty title="No entry matches" action={all} />;
    return <Empty title="Nothing has happened yet">The driver logs from its first second on.</Empty>;
  }
  return (
    <LogList
      log={log}
      search={view.search}
      marked={view.at}
      timeText={timeText}
      onSource={(source) => show({ ...view, source, at: undefined })}
      onAround={onOpen}
      onNewest={() => show({ ...view, at: undefined })}
    />
  );
}
