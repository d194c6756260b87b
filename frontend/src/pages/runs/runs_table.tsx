/** The rows of the runs list. */

import type { ListedRun } from "../../api/schema.ts";
import { seconds } from "../../base/clock.ts";
import { ago, duration, number, unixSeconds } from "../../base/format.ts";
import { Progress, StatePill } from "../../ui/controls.tsx";
import { Sparkline, useSparklines } from "./sparkline.tsx";

interface Props {
  readonly runs: readonly ListedRun[];
  readonly chosen: ReadonlySet<string>;
  readonly onToggle: (id: string) => void;
  readonly onTag: (tag: string) => void;
}

export function RunsTable({ runs, ...rest }: Props) {
  const rewards = useSparklines(runs);
  return (
    <div class="table-wrap">
      <table class="runs-table">
        <thead>
          <tr>
            <th>
              <span class="visually-hidden">Choose to compare</span>
            </th>
            <th>Run</th>
            <th>State</th>
            <th>Progress</th>
            <th>Reward</th>
            <th>Held-out reward</th>
            <th>Started</th>
            <th class="right">Took</th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => (
            <Row key={run.id} run={run} rewards={rewards.get(run.id) ?? []} {...rest} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

type RowProps = Omit<Props, "runs"> & { readonly run: ListedRun; readonly rewards: readonly number[] };

function Row({ run, rewards, chosen, onToggle, onTag }: RowProps) {
  const started = unixSeconds(run.started_at);
  const ended = unixSeconds(run.ended_at);
  const now = seconds.value;
  return (
    <tr class="link">
      <td>
        <input
          type="checkbox"
          aria-label={`Choose ${run.name} to compare`}
          checked={chosen.has(run.id)}
          onChange={() => onToggle(run.id)}
        />
      </td>
      <td>
        <div class="row">
          <a class="run-name" href={`/runs/${run.id}`}>
            {run.name}
          </a>
          {run.tags.map((tag) => (
            <button key={tag} type="button" class="tag" title={`Show runs tagged ${tag}`} onClick={() => onTag(tag)}>
              {tag}
            </button>
          ))}
        </div>
        <span class="tiny faint">
          {run.project.name} · {run.created_by ?? "a deleted account"}
        </span>
      </td>
      <td>
        <StatePill state={run.state} />
      </td>
      <td class="progress-cell">
        <div class="stack-s" style={{ gap: "4px", minWidth: "110px" }}>
          <Progress done={run.num_batches_done} total={run.num_batches} />
          <span class="tiny faint num">
            {run.num_batches_done} / {run.num_batches} batches
          </span>
        </div>
      </td>
      <td class="hide-narrow">
        <Sparkline values={rewards} />
      </td>
      <td class="num nowrap hide-narrow">
        <HeldOut run={run} />
      </td>
      <td class="nowrap muted hide-narrow">{started === null ? "–" : ago(now - started)}</td>
      <td class="right num nowrap muted hide-narrow">{started === null ? "–" : duration((ended ?? now) - started)}</td>
    </tr>
  );
}

function HeldOut({ run }: { run: ListedRun }) {
  const { reward_before: before, reward_after: after } = run.headline ?? {};
  if (before === undefined || before === null) return <span class="faint">–</span>;
  return (
    <>
      <span class="faint">{number(before)}</span>
      <span class="arrow">→</span>
      <b>{number(after)}</b>
    </>
  );
}
