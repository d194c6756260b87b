/** The parts of the runs table: its head, a run's row, a group's heading, and what stands for rows that are not there. */

import type { ListedRun, RunGroup } from "../../api/schema.ts";
import { number } from "../../base/format.ts";
import { Icon } from "../../ui/icon.tsx";
import type { Column } from "./columns.tsx";
import type { GroupBy, Order, RunView } from "./run_view.ts";

interface HeadProps {
  readonly columns: readonly Column[];
  readonly view: RunView;
  readonly onOrder: (order: Order) => void;
}

export function Head({ columns, view, onOrder }: HeadProps) {
  const sort = (order: Order) => (view.order !== order ? "none" : view.descending ? "descending" : "ascending");
  const button = (label: string, order: Order) => (
    <button type="button" class="sort" onClick={() => onOrder(order)}>
      {label} {view.order === order && <Icon name={view.descending ? "descending" : "ascending"} />}
    </button>
  );
  return (
    <thead>
      <tr>
        <th class="choose-cell">
          <span class="visually-hidden">Choose</span>
        </th>
        <th aria-sort={sort("name")}>{button("Run", "name")}</th>
        {columns.map(({ id, label, order, width, isRight }) => (
          <th key={id} style={{ width }} class={isRight ? "right" : ""} aria-sort={order && sort(order)}>
            {order ? button(label, order) : label}
          </th>
        ))}
      </tr>
    </thead>
  );
}

interface RowProps {
  readonly run: ListedRun;
  readonly index: number;
  readonly columns: readonly Column[];
  readonly rewards: readonly number[];
  readonly isChosen: boolean;
  readonly isCurrent: boolean;
  readonly onToggle: (id: string) => void;
  readonly onTag: (tag: string) => void;
}

export function Row({ run, index, columns, rewards, isChosen, isCurrent, onToggle, onTag }: RowProps) {
  return (
    <tr class={`link ${isChosen ? "chosen" : ""} ${isCurrent ? "current" : ""}`} aria-rowindex={index + 2}>
      <td class="choose-cell">
        <input type="checkbox" aria-label={`Choose ${run.name}`} checked={isChosen} onChange={() => onToggle(run.id)} />
      </td>
      <td class="run-cell">
        <a class="run-name" href={`/runs/${run.id}`} title={run.name}>
          {run.name}
        </a>
        {run.sweep && (
          <a
            class="sweep-badge"
            href={`/sweeps/${run.sweep.id}`}
            title={`Point ${run.sweep.point} of the sweep ${run.sweep.name}`}
          >
            <Icon name="sweeps" />
            <span class="visually-hidden">Sweep {run.sweep.name}</span>
          </a>
        )}
        {run.tags.map((tag) => (
          <button key={tag} type="button" class="tag" title={`Show runs tagged ${tag}`} onClick={() => onTag(tag)}>
            {tag}
          </button>
        ))}
        {run.warning && (
          <span class="warn" title={run.warning}>
            <Icon name="warning" />
            <span class="visually-hidden">{run.warning}</span>
          </span>
        )}
      </td>
      {columns.map(({ id, isRight, show }) => (
        <td key={id} class={`${id}-cell num ${isRight ? "right" : ""}`}>
          {show({ run, rewards })}
        </td>
      ))}
    </tr>
  );
}

export function Heading(props: {
  group: RunGroup;
  isFolded: boolean;
  by: GroupBy | undefined;
  columns: readonly Column[];
  onFold: (value: string) => void;
}) {
  const { group, isFolded } = props;
  const none = props.by === "tag" ? "no tag" : props.by === "preset" ? "no preset" : "a deleted account";
  return (
    <tr class="group-row">
      <th colSpan={props.columns.length + 2} scope="rowgroup">
        <button type="button" class="sort" aria-expanded={!isFolded} onClick={() => props.onFold(group.value)}>
          <Icon name={isFolded ? "right" : "down"} /> {group.value || none}
          <span class="count">{group.number.toLocaleString("en-GB")}</span>
        </button>
        <GroupSums group={group} />
      </th>
    </tr>
  );
}

/** Sums over the runs of a group, as far as there is something to add up. */
function GroupSums({ group }: { group: RunGroup }) {
  const { num_live: live, num_failed: failed, num_batches_done: batches, best_reward: best, mean_reward: mean } = group;
  return (
    <span class="group-sums num">
      {live > 0 && <span>{live.toLocaleString("en-GB")} live</span>}
      {failed > 0 && <span class="bad">{failed.toLocaleString("en-GB")} failed</span>}
      <span class="hide-narrow">{batches.toLocaleString("en-GB")} batches</span>
      {best !== null && (
        <span title="Held-out reward of the newest evaluations">
          reward <span class="hide-narrow">{number(mean)} on average, </span>
          {number(best)} at best
        </span>
      )}
    </span>
  );
}

export function Awaited({ columns }: { columns: readonly Column[] }) {
  return (
    <tr aria-busy="true">
      <td colSpan={columns.length + 2}>
        <div class="loading-bar" style={{ width: "38%" }} />
      </td>
    </tr>
  );
}

export function Space({ height, columns }: { height: number; columns: readonly Column[] }) {
  return height <= 0 ? null : (
    <tr class="space">
      <td colSpan={columns.length + 2} style={{ height: `${height}px` }} />
    </tr>
  );
}
