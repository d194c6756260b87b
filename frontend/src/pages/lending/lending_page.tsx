/** Lending across runs, live: who lends which lane to whom, as a timeline, as totals and as a table. */

import { useState } from "preact/hooks";
import { api } from "../../api/endpoints.ts";
import { seconds, serverNow } from "../../base/clock.ts";
import { Segmented } from "../../ui/controls.tsx";
import { useLiveResource } from "../../ui/resource.ts";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { LendSums } from "./lend_sums.tsx";
import { LendTable } from "./lend_table.tsx";
import { LendTimeline } from "./lend_timeline.tsx";

const HOUR = 3600;
const WINDOWS = [
  { value: "0.25", label: "15 min" },
  { value: "1", label: "1 h" },
  { value: "24", label: "24 h" },
  { value: "168", label: "7 days" },
] as const;
const KINDS = [
  { value: "all", label: "All" },
  { value: "between_runs", label: "Between runs" },
  { value: "within_run", label: "Within runs" },
] as const;
/** The most lends that the page draws and lists. */
const MAX_LENDS = 500;

export function LendingPage() {
  const [hours, setHours] = useState<(typeof WINDOWS)[number]["value"]>("1");
  const [kind, setKind] = useState<(typeof KINDS)[number]["value"]>("all");
  const [selected, setSelected] = useState<string | null>(null);
  const filter = {
    since: new Date((serverNow() - Number(hours) * HOUR) * 1000).toISOString(),
    kind: kind === "all" ? undefined : kind,
  };
  // Totals over days need not be read every few seconds.
  const [sumsFilter, setSumsFilter] = useState(filter);
  const [sumsVersion, setSumsVersion] = useState(0);
  const lends = useLiveResource(() => api.lends(filter, MAX_LENDS), [hours, kind], seconds);
  const choose = (change: () => void, changed: Partial<typeof filter>) => {
    change();
    setSumsFilter({ ...filter, ...changed });
    setSumsVersion((version) => version + 1);
  };
  const now = seconds.value;
  const window = { from: now - Number(hours) * HOUR, to: now };
  const select = (id: string) => {
    setSelected(id);
    document.getElementById(`lend-${id}`)?.scrollIntoView({ block: "nearest" });
  };
  return (
    <>
      <div class="page-head">
        <h1>Lending</h1>
        <Segmented
          label="Kind of lend"
          choices={KINDS}
          value={kind}
          onChange={(value) => choose(() => setKind(value), { kind: value === "all" ? undefined : value })}
        />
        <Segmented
          label="Window"
          choices={WINDOWS}
          value={hours}
          onChange={(value) =>
            choose(() => setHours(value), {
              since: new Date((serverNow() - Number(value) * HOUR) * 1000).toISOString(),
            })
          }
        />
      </div>
      {lends.error !== null && <Failed message={lends.error} onRetry={lends.reload} />}
      {!lends.value && lends.error === null && <Loading label="Loading the ledger" />}
      {lends.value && lends.value.length === 0 && (
        <section class="card">
          <Empty title="Nothing was lent in this time">
            Runs with room in their elastic bounds borrow idle lanes where their batches end sooner by more than the
            switch costs; trainer lanes generate for their own run where pipeline.tag lets them.
          </Empty>
        </section>
      )}
      {lends.value && lends.value.length > 0 && (
        <div class="stack">
          <section class="card" aria-label="Timeline">
            <LendTimeline lends={lends.value} window={window} selected={selected} onSelect={select} />
          </section>
          <LendSums filter={sumsFilter} version={sumsVersion} />
          <section class="card flush" aria-label="Lends">
            <div class="card-head">
              <h2>Lends</h2>
              {lends.value.length === MAX_LENDS && <span class="small muted">the newest {MAX_LENDS}</span>}
            </div>
            <LendTable lends={lends.value} now={now} selected={selected} />
          </section>
        </div>
      )}
    </>
  );
}
