/** The runs of one fate: those that work, wait, failed or finished. */

import type { HomeGroup, HomeRun } from "../../api/schema.ts";
import { seconds } from "../../base/clock.ts";
import { ago, duration, unixSeconds } from "../../base/format.ts";
import { Progress, StatePill } from "../../ui/controls.tsx";
import { Empty } from "../../ui/states.tsx";

/** The server sends so many of one's own, and at least half as many of others where there are. */
const MAX_ROWS = 8;

interface Words {
  readonly title: string;
  readonly none: string;
  /** Where all of them are listed: as many as are counted. */
  readonly all: string;
}

export const GROUP_WORDS: Readonly<Record<HomeGroup["group"], Words>> = {
  running: { title: "Running", none: "No run works now", all: "/runs?state=starting,running,paused,stopping" },
  waiting: { title: "Waiting", none: "No run waits for lanes", all: "/runs?state=queued" },
  failed: { title: "Failed in the last 7 days", none: "No run failed", all: "/runs?state=failed&ended_days=7" },
  finished: {
    title: "Finished in the last 7 days",
    none: "No run finished",
    all: "/runs?state=completed,stopped&ended_days=7",
  },
};

/** Address of the list of what is counted. */
export function listOf(group: HomeGroup["group"], onlyMine: boolean): string {
  return GROUP_WORDS[group].all + (onlyMine ? "&mine=true" : "");
}

export function RunGroupPanel({ group, onlyMine }: { group: HomeGroup; onlyMine: boolean }) {
  const { title, none } = GROUP_WORDS[group.group];
  const rows = rowsShown(group.rows, onlyMine);
  const number = onlyMine ? group.number_mine : group.number;
  return (
    <section class="band" aria-label={title}>
      <div class="row-between">
        <h2>
          {title}
          <span class="count">{number}</span>
        </h2>
        {number > rows.length && (
          <a class="small" href={listOf(group.group, onlyMine)}>
            All {number}
          </a>
        )}
      </div>
      {rows.length === 0 && group.group === "running" && (
        <Empty
          title={none}
          action={
            <a class="button" href="/runs/new">
              New run
            </a>
          }
        />
      )}
      {rows.length === 0 && group.group !== "running" && <p class="small muted home-none">{none}.</p>}
      <ul class="home-runs">
        {rows.map((run) => (
          <Row key={run.id} run={run} />
        ))}
      </ul>
    </section>
  );
}

/** As many rows as fit: of the user's own no more than leave room for the team's. */
function rowsShown(rows: readonly HomeRun[], onlyMine: boolean): readonly HomeRun[] {
  const own = rows.filter(({ is_mine }) => is_mine);
  const others = rows.filter(({ is_mine }) => !is_mine);
  return onlyMine ? own : [...own.slice(0, MAX_ROWS - others.length), ...others];
}

function Row({ run }: { run: HomeRun }) {
  return (
    <li>
      <div class="home-run-name">
        <a class="run-name truncate" href={`/runs/${run.id}`}>
          {run.name}
        </a>
        <span class="tiny faint truncate">
          {run.project} · {run.is_mine ? "me" : (run.created_by ?? "a deleted account")}
        </span>
      </div>
      <StatePill state={run.state} />
      <div class="home-run-progress">
        <Progress done={run.num_batches_done} total={run.num_batches} />
        <span class="tiny faint num">
          {run.num_batches_done} / {run.num_batches}
        </span>
      </div>
      <span class="tiny muted num home-run-time">{timeOf(run, seconds.value)}</span>
      {run.note && <p class="small muted home-run-note">{run.note}</p>}
    </li>
  );
}

/** How long it has run, has waited, or has been over. */
export function timeOf(run: HomeRun, now: number): string {
  const [changed, started, ended] = [run.state_changed_at, run.started_at, run.ended_at].map(unixSeconds);
  if (ended != null) return ago(now - ended);
  if (run.state === "queued") return changed == null ? "" : `for ${duration(now - changed)}`;
  return started == null ? "" : `for ${duration(now - started)}`;
}
