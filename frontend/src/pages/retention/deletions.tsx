/** The newest deletions: how far each is, who asked for it, and a button to cancel what is under way. */

import { api } from "../../api/endpoints.ts";
import type { Operation } from "../../api/schema.ts";
import { clock, unixSeconds } from "../../base/format.ts";
import { attempt } from "../../ui/toasts.tsx";
import { isUnderWay, PILL } from "./retention_words.ts";

interface Props {
  readonly operations: readonly Operation[];
  readonly onCancelled: () => void;
}

export function Deletions({ operations, onCancelled }: Props) {
  if (operations.length === 0) return null;
  const cancel = async (operation: Operation) => {
    await attempt(() => api.cancelOperation(operation.id), "Nothing more of it is deleted.");
    onCancelled();
  };
  return (
    <section class="card" aria-label="Deletions">
      <div class="card-head">
        <h2>Deletions</h2>
      </div>
      <ul class="deletions">
        {operations.map((operation) => (
          <li key={operation.id}>
            <div class="row-between">
              <span class="row">
                <span class={`pill ${PILL[operation.state]}`}>{operation.state}</span>
                <span class="small">
                  {clock(unixSeconds(operation.created_at))} by {operation.requested_by ?? "a deleted account"}
                </span>
              </span>
              {operation.can_cancel && (
                <button type="button" class="button small" onClick={() => void cancel(operation)}>
                  Cancel
                </button>
              )}
            </div>
            {isUnderWay(operation) && <Done {...operation} />}
            <p class="small muted">
              {doneText(operation)}
              {operation.detail && `; ${operation.detail}`}
            </p>
            {operation.problem && <p class="small bad">{operation.problem}</p>}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Done({ progress }: Operation) {
  if (progress === null) return null;
  const share = progress.total > 0 ? Math.min(1, progress.done / progress.total) : 0;
  return (
    <div
      class="progress"
      role="progressbar"
      aria-label="rows and files deleted"
      aria-valuemin={0}
      aria-valuemax={progress.total}
      aria-valuenow={progress.done}
    >
      <i style={{ width: `${share * 100}%` }} />
    </div>
  );
}

function doneText({ progress }: Operation): string {
  if (progress === null) return "";
  const [done, total] = [progress.done, progress.total].map((count) => count.toLocaleString("en-GB"));
  return `${done} of ${total} ${progress.unit} deleted`;
}
