/** Asks for how long the secret of a webhook that is replaced signs beside the new one. */

import { useState } from "preact/hooks";
import type { Webhook } from "../../api/schema.ts";
import { Dialog } from "../../ui/dialog.tsx";

/** The server's default is the first. */
const OVERLAPS = [
  { hours: 24, words: "24 hours" },
  { hours: 168, words: "a week" },
  { hours: 0, words: "not at all: it has leaked" },
] as const;

interface Props {
  readonly webhook: Webhook;
  readonly onConfirm: (overlapHours: number) => void;
  readonly onClose: () => void;
}

export function RotateSecret({ webhook, onConfirm, onClose }: Props) {
  const [hours, setHours] = useState<number>(OVERLAPS[0].hours);
  const confirm = () => {
    onClose();
    onConfirm(hours);
  };
  return (
    <Dialog title={`New secret for ${webhook.name}?`} onClose={onClose}>
      <p class="muted">
        It is shown once. Until the old one ends, each message has a signature by either, so that receivers can be
        changed one by one.
      </p>
      <label class="field">
        <span>The old secret signs on for</span>
        <select value={hours} onChange={(event) => setHours(Number(event.currentTarget.value))}>
          {OVERLAPS.map((overlap) => (
            <option key={overlap.hours} value={overlap.hours}>
              {overlap.words}
            </option>
          ))}
        </select>
      </label>
      <div class="row" style={{ justifyContent: "flex-end" }}>
        <button type="button" class="button" onClick={onClose}>
          Keep it
        </button>
        <button type="button" class="button primary" onClick={confirm}>
          Make a new secret
        </button>
      </div>
    </Dialog>
  );
}
