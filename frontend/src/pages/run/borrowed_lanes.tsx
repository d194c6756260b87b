/** The lanes that the run has borrowed from the pool or from other projects. */

import { api } from "../../api/endpoints.ts";
import { seconds } from "../../base/clock.ts";
import { useLiveResource } from "../../ui/resource.ts";
import { Failed } from "../../ui/states.tsx";
import { LendTable } from "../lending/lend_table.tsx";
import type { RunProps } from "./context.ts";

/** The most lends that the panel lists. */
const MAX_LENDS = 100;

/** Nothing for a run that has never borrowed. */
export function BorrowedLanes({ store, run }: RunProps) {
  const filter = { run: run.id, kind: "between_runs" as const };
  const lends = useLiveResource(() => api.lends(filter, MAX_LENDS), [run.id], store.timeline.version);
  if (lends.error !== null) return <Failed message={lends.error} onRetry={lends.reload} />;
  if (!lends.value?.length) return null;
  return (
    <section class="card flush" aria-label="Borrowed lanes">
      <div class="card-head">
        <h2>Borrowed lanes</h2>
        <a class="small" href="/lending">
          Lending across runs
        </a>
      </div>
      <LendTable lends={lends.value} now={seconds.value} isOfOneRun />
    </section>
  );
}
