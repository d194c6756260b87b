/** The columns of the runs table: what each shows, what the server orders by it, and which ones the reader chose. */

import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import type { ListedRun } from "../../api/schema.ts";
import { seconds } from "../../base/clock.ts";
import { ago, duration, number, unixSeconds } from "../../base/format.ts";
import { Progress, StatePill } from "../../ui/controls.tsx";
import type { Order } from "./run_view.ts";
import { Sparkline } from "./sparkline.tsx";

export interface Cell {
  readonly run: ListedRun;
  readonly rewards: readonly number[];
}

export interface Column {
  readonly id: string;
  readonly label: string;
  readonly order?: Order;
  /** As CSS has it. */
  readonly width: string;
  readonly isRight?: boolean;
  /** Shown until the reader chooses otherwise. */
  readonly isUsual: boolean;
  readonly show: (cell: Cell) => ComponentChildren;
}

const DASH = <span class="faint">–</span>;

function times(run: ListedRun): { started: number | null; ended: number | null } {
  return { started: unixSeconds(run.started_at), ended: unixSeconds(run.ended_at) };
}

/** Beside the name, which is always there. */
export const COLUMNS: readonly Column[] = [
  {
    id: "state",
    label: "State",
    order: "state",
    width: "118px",
    isUsual: true,
    show: ({ run }) => <StatePill state={run.state} />,
  },
  {
    id: "progress",
    label: "Progress",
    order: "progress",
    width: "136px",
    isUsual: true,
    show: ({ run }) => <Batches run={run} />,
  },
  {
    id: "curve",
    label: "Reward",
    width: "144px",
    isUsual: true,
    show: ({ rewards }) => <Sparkline values={rewards} />,
  },
  {
    id: "reward",
    label: "Held-out reward",
    order: "reward",
    width: "148px",
    isUsual: true,
    show: ({ run }) => <HeldOut run={run} />,
  },
  {
    id: "user",
    label: "User",
    width: "112px",
    isUsual: true,
    show: ({ run }) => run.created_by ?? "a deleted account",
  },
  { id: "project", label: "Project", width: "120px", isUsual: false, show: ({ run }) => run.project.name },
  {
    id: "created",
    label: "Created",
    order: "created",
    width: "112px",
    isUsual: true,
    show: ({ run }) => since(unixSeconds(run.created_at)),
  },
  {
    id: "started",
    label: "Started",
    order: "started",
    width: "112px",
    isUsual: false,
    show: ({ run }) => since(times(run).started),
  },
  {
    id: "duration",
    label: "Duration",
    order: "duration",
    width: "104px",
    isRight: true,
    isUsual: true,
    show: ({ run }) => took(run),
  },
];

function since(at: number | null): ComponentChildren {
  return at === null ? DASH : ago(Math.max(0, seconds.value - at));
}

function took(run: ListedRun): ComponentChildren {
  const { started, ended } = times(run);
  return started === null ? DASH : duration((ended ?? seconds.value) - started);
}

function Batches({ run }: { run: ListedRun }) {
  return (
    <>
      <Progress done={run.num_batches_done} total={run.num_batches} />
      <span class="tiny faint num">
        {run.num_batches_done} / {run.num_batches} batches
      </span>
    </>
  );
}

function HeldOut({ run }: { run: ListedRun }) {
  const { reward_before: before, reward_after: after } = run.headline ?? {};
  if (before === undefined || before === null) return DASH;
  return (
    <>
      <span class="faint">{number(before)}</span>
      <span class="arrow">→</span>
      <b>{number(after)}</b>
    </>
  );
}

const KEY = "tandem.runColumns";

function readChoice(): ReadonlySet<string> {
  const stored = localStorage.getItem(KEY);
  const usual = COLUMNS.filter(({ isUsual }) => isUsual).map(({ id }) => id);
  return new Set(stored === null ? usual : stored.split(","));
}

const chosen = signal<ReadonlySet<string> | null>(null);

/** The columns in view, in their order; remembered by this browser. */
export function chosenColumns(): readonly Column[] {
  const ids = chosen.value ?? readChoice();
  return COLUMNS.filter(({ id }) => ids.has(id));
}

export function toggleColumn(id: string): void {
  const ids = new Set(chosenColumns().map((column) => column.id));
  if (!ids.delete(id)) ids.add(id);
  chooseColumns([...ids]);
}

/** Show these columns; ids that there are not are left out. */
export function chooseColumns(ids: readonly string[]): void {
  localStorage.setItem(KEY, ids.join(","));
  chosen.value = new Set(ids);
}
