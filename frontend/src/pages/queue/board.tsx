/** The board: the runs that wait, in the order in which they are served. */

import { useState } from "preact/hooks";
import { api } from "../../api/endpoints.ts";
import { priorityValues, type QueueDirection, type QueuedRun } from "../../api/schema.ts";
import { seconds } from "../../base/clock.ts";
import { clock, roughly, unixSeconds } from "../../base/format.ts";
import { Empty } from "../../ui/states.tsx";
import { Term } from "../../ui/term.tsx";
import { attempt } from "../../ui/toasts.tsx";
import { Alternatives } from "./alternatives.tsx";
import { MoveDialog } from "./move_dialog.tsx";
import { aheadText, BASIS_WORDS, bandText, lanesText } from "./queue_words.ts";

interface Props {
  readonly rows: readonly QueuedRun[];
  /** Runs that wait, those too that are not among the rows. */
  readonly count: number;
  readonly mayReorder: boolean;
  readonly onChanged: () => void;
  /** All of them are wanted. */
  readonly onWhole: () => void;
}

interface Move {
  readonly run: QueuedRun;
  readonly direction: QueueDirection;
}

/** Keys that move the row in focus, together with Alt. */
const DIRECTION_OF_KEY: Readonly<Record<string, QueueDirection>> = {
  ArrowUp: "up",
  ArrowDown: "down",
  Home: "front",
};

export function Board({ rows, count, mayReorder, onChanged, onWhole }: Props) {
  const [move, setMove] = useState<Move | null>(null);
  if (rows.length === 0) {
    return (
      <section class="card" aria-label="Waiting runs">
        <Empty title="No run waits">Runs that find no free lanes wait here.</Empty>
      </section>
    );
  }
  return (
    <section class="card flush" aria-label="Waiting runs">
      <div class="card-head">
        <h2>
          Waiting <span class="count">{count}</span>
        </h2>
        {mayReorder && (
          <span class="tiny faint hide-narrow">
            With a row in focus: <kbd>Alt</kbd> + <kbd>↑</kbd> <kbd>↓</kbd> moves it, <kbd>Alt</kbd> + <kbd>Home</kbd>{" "}
            to the front
          </span>
        )}
      </div>
      <div class="table-wrap">
        <table class="queue-table">
          <thead>
            <tr>
              <th>Place</th>
              <th>Run</th>
              <th>
                Wants <Term word="lane">lanes</Term>
              </th>
              <th>Expected start</th>
              <th>Waits for</th>
              <th />
            </tr>
          </thead>
          {rows.map((row, index) => (
            <WaitingRow
              key={row.run_id ?? `other-${index}`}
              row={row}
              isLast={index === count - 1}
              mayReorder={mayReorder && row.run_id !== null}
              onMove={(direction) => setMove({ run: row, direction })}
              onChanged={onChanged}
            />
          ))}
        </table>
      </div>
      {count > rows.length && (
        <button type="button" class="button quiet" onClick={onWhole}>
          Show {count - rows.length} more
        </button>
      )}
      {move !== null && <MoveDialog {...move} onClose={() => setMove(null)} onMoved={onChanged} />}
    </section>
  );
}

interface RowProps {
  readonly row: QueuedRun;
  readonly isLast: boolean;
  readonly mayReorder: boolean;
  readonly onMove: (direction: QueueDirection) => void;
  readonly onChanged: () => void;
}

function WaitingRow({ row, isLast, mayReorder, onMove, onChanged }: RowProps) {
  const [isOpen, setOpen] = useState(false);
  const onKeyDown = (event: KeyboardEvent) => {
    const direction = event.altKey ? DIRECTION_OF_KEY[event.key] : undefined;
    if (!mayReorder || direction === undefined) return;
    event.preventDefault();
    onMove(direction);
  };
  return (
    <tbody>
      <tr class="link" tabIndex={mayReorder ? 0 : undefined} onKeyDown={onKeyDown} aria-label={rowName(row)}>
        <td class="num queue-place">{row.position === null ? "–" : row.position + 1}</td>
        <td class="queue-run">
          <Name row={row} onChanged={onChanged} />
        </td>
        <td class="nowrap">{lanesText(row.lanes)}</td>
        <td>
          <Start row={row} />
        </td>
        <td class="queue-why">
          <Why row={row} />
        </td>
        <td class="queue-actions">
          <div class="row">
            {row.may_change && (
              <button type="button" class="button small" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
                What would start now?
              </button>
            )}
            {mayReorder && <MoveButtons row={row} isLast={isLast} onMove={onMove} onChanged={onChanged} />}
          </div>
        </td>
      </tr>
      {isOpen && row.run_id !== null && (
        <tr class="queue-more">
          <td colSpan={6}>
            <Alternatives run={row.run_id} lanes={row.lanes} onTaken={onChanged} />
          </td>
        </tr>
      )}
    </tbody>
  );
}

function rowName(row: QueuedRun): string {
  return `${row.run_name}, ${row.position === null ? "stopped by a limit" : `place ${row.position + 1}`}`;
}

function Name({ row, onChanged }: { row: QueuedRun; onChanged: () => void }) {
  const since = unixSeconds(row.since);
  return (
    <>
      {row.run_id === null ? (
        <span class="muted">{row.run_name}</span>
      ) : (
        <a class="run-name" href={`/runs/${row.run_id}`}>
          {row.run_name}
        </a>
      )}
      <div class="tiny faint row">
        {row.project_name && <span>{row.project_name}</span>}
        <Priority row={row} onChanged={onChanged} />
        {since !== null && <span>waiting {roughly(Math.max(0, seconds.value - since))}</span>}
      </div>
      {row.moved && (
        <p class="tiny queue-moved" title={clock(unixSeconds(row.moved.at))}>
          {row.moved.words} by {row.moved.by}: {row.moved.reason}
        </p>
      )}
    </>
  );
}

function Priority({ row, onChanged }: { row: QueuedRun; onChanged: () => void }) {
  const id = row.run_id;
  if (!row.may_change || id === null) return <span>{row.priority} priority</span>;
  const choose = async (priority: QueuedRun["priority"]) => {
    if (await attempt(() => api.patchRun(id, { priority }), `Priority of ${row.run_name}: ${priority}.`)) onChanged();
  };
  return (
    <select
      class="queue-priority"
      aria-label={`Priority of ${row.run_name} among the runs of its project`}
      value={row.priority}
      onChange={(event) => void choose(event.currentTarget.value as QueuedRun["priority"])}
    >
      {priorityValues.map((priority) => (
        <option key={priority} value={priority}>
          {priority} priority
        </option>
      ))}
    </select>
  );
}

function Start({ row }: { row: QueuedRun }) {
  const band = bandText(row.starts, seconds.value);
  if (band === null) return <span class="faint">unknown</span>;
  return (
    <>
      <b class="nowrap">{band.likely}</b>
      <div class="tiny faint nowrap" title={`How long it will run: ${BASIS_WORDS[row.duration_basis]}`}>
        {band.range}
      </div>
    </>
  );
}

function Why({ row }: { row: QueuedRun }) {
  const ahead = aheadText(row.ahead);
  return (
    <ul class="queue-blockers small">
      {row.blockers.map(({ kind, lane_kind, text }) => (
        <li key={`${kind} ${lane_kind}`} class={kind}>
          {text}
        </li>
      ))}
      {ahead && <li class="muted">{ahead}</li>}
    </ul>
  );
}

type MoveProps = Omit<RowProps, "mayReorder">;

function MoveButtons({ row, isLast, onMove, onChanged }: MoveProps) {
  const run = row.run_id;
  const button = (direction: QueueDirection, sign: string, title: string, isOff: boolean) => (
    <button
      type="button"
      class="button small icon"
      disabled={isOff}
      aria-label={`${title}: ${row.run_name}`}
      title={title}
      onClick={() => onMove(direction)}
    >
      {sign}
    </button>
  );
  return (
    <>
      {button("front", "⤒", "Move to the front", row.position === 0)}
      {button("up", "↑", "Move up", row.position === 0)}
      {button("down", "↓", "Move down", isLast || row.position === null)}
      {row.moved && run !== null && (
        <button
          type="button"
          class="button quiet small"
          onClick={() =>
            void attempt(() => api.undoMove(run), `${row.run_name} has its own place again.`).then(onChanged)
          }
        >
          Undo the move
        </button>
      )}
    </>
  );
}
