/** Asks a pool admin for the reason of a move, which everybody who sees the queue reads. */

import type { TargetedSubmitEvent } from "preact";
import { useState } from "preact/hooks";
import { api } from "../../api/endpoints.ts";
import type { QueueDirection, QueuedRun } from "../../api/schema.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { attempt } from "../../ui/toasts.tsx";

const TITLES: Readonly<Record<QueueDirection, string>> = {
  front: "Move to the front",
  up: "Move up",
  down: "Move down",
};

interface Props {
  readonly run: QueuedRun;
  readonly direction: QueueDirection;
  readonly onMoved: () => void;
  readonly onClose: () => void;
}

export function MoveDialog({ run, direction, onMoved, onClose }: Props) {
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const reason = String(new FormData(event.currentTarget).get("reason"));
    const id = run.run_id;
    if (id === null) return;
    setBusy(true);
    const isDone = await attempt(() => api.moveInQueue(id, { direction, reason }), `${run.run_name} was moved.`);
    setBusy(false);
    if (!isDone) return;
    onMoved();
    onClose();
  };
  return (
    <Dialog title={`${TITLES[direction]}: ${run.run_name}`} onClose={onClose}>
      <form class="stack" onSubmit={(event) => void submit(event)}>
        <label class="field">
          <span>Reason</span>
          <input name="reason" required maxLength={200} autofocus placeholder="such as: deadline" />
          <span class="tiny field-help">Everybody who sees the queue reads it, with your name.</span>
        </label>
        <div class="row" style={{ justifyContent: "flex-end" }}>
          <button type="button" class="button" onClick={onClose}>
            Leave it
          </button>
          <button type="submit" class="button primary" disabled={isBusy}>
            {TITLES[direction]}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
