/** The queue of a pool: who waits for what and until when, who holds lanes, and what projects may have. */

import { useEffect, useMemo } from "preact/hooks";
import { seconds } from "../../base/clock.ts";
import { ago } from "../../base/format.ts";
import { QueueStore } from "../../live/queue_store.ts";
import { Segmented } from "../../ui/controls.tsx";
import { LiveBadge } from "../../ui/live_badge.tsx";
import { Failed, Loading } from "../../ui/states.tsx";
import { Board } from "./board.tsx";
import { PolicyEditor } from "./policy_editor.tsx";
import { QuotaBars } from "./quota_bars.tsx";
import { RunningRuns } from "./running.tsx";

/** Forecasts are read again every half minute, and a long queue takes its time. */
const OLD_SECONDS = 45;

export function QueuePage({ pool }: { pool: string | null }) {
  const store = useMemo(() => new QueueStore(pool ?? ""), [pool]);
  useEffect(() => {
    store.start();
    return () => store.stop();
  }, [store]);
  if (store.problem.value !== null && !store.loaded.value) {
    return <Failed message={store.problem.value} onRetry={() => store.reload()} />;
  }
  if (!store.loaded.value) return <Loading label="Loading the queue" />;
  const name = store.pool.value;
  const mayAct = store.mayAct.value;
  const current = store.pools.value.find((row) => row.name === name);
  return (
    <div class="stack">
      <div class="page-head queue-head">
        <div class="row">
          <h1>Queue</h1>
          <Freshness store={store} />
        </div>
        {store.pools.value.length > 1 && (
          <Segmented
            label="Pool"
            choices={store.pools.value.map(({ name: value, num_waiting: count }) => ({
              value,
              label: count > 0 ? `${value} (${count})` : value,
            }))}
            value={name}
            onChange={(chosen) => store.choose(chosen)}
          />
        )}
      </div>
      <Board
        rows={store.waiting.value}
        count={Math.max(current?.num_waiting ?? 0, store.waiting.value.length)}
        mayReorder={mayAct}
        onChanged={() => store.reload()}
        onWhole={() => store.readWhole()}
      />
      <RunningRuns rows={store.running.value} />
      <QuotaBars
        shares={store.shares.value}
        numLanes={current?.num_lanes ?? 0}
        halfLifeHours={store.policy.value?.half_life_hours ?? null}
      />
      {mayAct && store.policy.value && (
        <PolicyEditor
          key={name}
          pool={name}
          shares={store.shares.value}
          policy={store.policy.value}
          onSaved={() => store.reload()}
        />
      )}
    </div>
  );
}

function Freshness({ store }: { store: QueueStore }) {
  // The clock's tick has the age drawn again.
  void seconds.value;
  const age = Date.now() / 1000 - store.readAt.value;
  return (
    <LiveBadge
      connection={store.connection.value}
      heardAt={store.heardAt.value}
      stale={age > OLD_SECONDS ? `read ${ago(age)}` : null}
    />
  );
}
