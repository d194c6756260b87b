/** Lending across runs, live: who lends which lane to whom, as a timeline, as totals and as a table; how well gains were
 * predicted, and what switching cost. */

import { useMemo, useState } from "preact/hooks";
import { api, type LendFilter } from "../../api/endpoints.ts";
import type { Lend } from "../../api/schema.ts";
import { seconds, serverNow } from "../../base/clock.ts";
import type { Extent } from "../../timeline/view.ts";
import { Segmented } from "../../ui/controls.tsx";
import { useLiveResource } from "../../ui/resource.ts";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { GainScatter } from "./gain_scatter.tsx";
import { ALL_LENDS, filterOf, type LendChoice, LendFilters } from "./lend_filters.tsx";
import { graded } from "./lend_measures.ts";
import { LendSums } from "./lend_sums.tsx";
import { LendTable } from "./lend_table.tsx";
import { LendTimeline } from "./lend_timeline.tsx";
import { SwitchHistogram } from "./switch_histogram.tsx";

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

type Hours = (typeof WINDOWS)[number]["value"];
type Kind = (typeof KINDS)[number]["value"];

export function LendingPage() {
  const [hours, setHours] = useState<Hours>("1");
  const [kind, setKind] = useState<Kind>("all");
  const [choice, setChoice] = useState<LendChoice>(ALL_LENDS);
  const now = seconds.value;
  const window = { from: now - Number(hours) * HOUR, to: now };
  const within = (from: number): LendFilter => ({
    since: new Date(from * 1000).toISOString(),
    kind: kind === "all" ? undefined : kind,
  });
  const asked = [hours, kind, choice.project, choice.run, choice.lane];
  const lends = useLiveResource(
    () => api.lends({ ...within(window.from), ...filterOf(choice) }, MAX_LENDS),
    asked,
    seconds,
  );
  // Totals over days need not be read every few seconds: their window begins where it did when they were asked for.
  const settled = useMemo(() => within(serverNow() - Number(hours) * HOUR), [hours, kind]);
  const summed = useMemo(() => ({ ...settled, ...filterOf(choice) }), [settled, ...asked]);
  return (
    <>
      <div class="page-head">
        <h1>Lending</h1>
        <Segmented label="Kind of lend" choices={KINDS} value={kind} onChange={setKind} />
        <Segmented label="Window" choices={WINDOWS} value={hours} onChange={setHours} />
      </div>
      <div class="stack">
        <LendFilters choice={choice} within={settled} onChange={setChoice} />
        {lends.error !== null && <Failed message={lends.error} onRetry={lends.reload} />}
        {!lends.value && lends.error === null && <Loading label="Loading the ledger" />}
        {lends.value && lends.value.length === 0 && <NothingLent isFiltered={choice !== ALL_LENDS} />}
        {lends.value && lends.value.length > 0 && (
          <Ledger lends={lends.value} window={window} now={now} summed={summed} />
        )}
      </div>
    </>
  );
}

function NothingLent({ isFiltered }: { isFiltered: boolean }) {
  return (
    <section class="card">
      <Empty title={isFiltered ? "Nothing of this was lent in this time" : "Nothing was lent in this time"}>
        Runs with room in their elastic bounds borrow idle lanes where their batches end sooner by more than the switch
        costs; trainer lanes generate for their own run where pipeline.tag lets them.
      </Empty>
    </section>
  );
}

interface LedgerProps {
  readonly lends: readonly Lend[];
  readonly window: Extent;
  readonly now: number;
  readonly summed: LendFilter;
}

function Ledger({ lends, window, now, summed }: LedgerProps) {
  const [selected, setSelected] = useState<string | null>(null);
  const select = (id: string) => {
    setSelected(id);
    document.getElementById(`lend-${id}`)?.scrollIntoView({ block: "nearest" });
  };
  return (
    <>
      <section class="card" aria-label="Timeline">
        <LendTimeline lends={lends} window={window} selected={selected} onSelect={select} />
      </section>
      <div class="lend-measures">
        <GainScatter lends={graded(lends)} selected={selected} onSelect={select} />
        <SwitchHistogram lends={lends} />
      </div>
      <LendSums filter={summed} />
      <section class="card flush" aria-label="Lends">
        <div class="card-head">
          <h2>Lends</h2>
          {lends.length === MAX_LENDS && (
            <span class="small muted">the newest {MAX_LENDS}, of which the figures above are too</span>
          )}
        </div>
        <LendTable lends={lends} now={now} selected={selected} />
      </section>
    </>
  );
}
