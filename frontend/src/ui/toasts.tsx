/** Short notices in the corner: what an action did, or why it could not. */

import { signal } from "@preact/signals";
import { messageOf } from "../api/client.ts";
import { Icon } from "./icon.tsx";

type Tone = "good" | "bad";

const shown = signal<readonly { id: number; tone: Tone; text: string }[]>([]);
let lastId = 0;
const SHOWN_MILLISECONDS = 6000;

export function toast(text: string, tone: Tone = "good"): void {
  const id = ++lastId;
  shown.value = [...shown.value, { id, tone, text }];
  setTimeout(() => dismiss(id), SHOWN_MILLISECONDS);
}

/** Run an action; say `done` when it succeeded and the reason when not. Returns whether it succeeded. */
export async function attempt(action: () => Promise<unknown>, done?: string): Promise<boolean> {
  try {
    await action();
    if (done) toast(done);
    return true;
  } catch (error) {
    toast(messageOf(error), "bad");
    return false;
  }
}

function dismiss(id: number): void {
  shown.value = shown.value.filter((notice) => notice.id !== id);
}

export function Toasts() {
  return (
    <div class="toasts" aria-live="polite">
      {shown.value.map((notice) => (
        <div key={notice.id} class={`notice ${notice.tone} row-between`}>
          <span>{notice.text}</span>
          <button type="button" class="button quiet small" aria-label="Dismiss" onClick={() => dismiss(notice.id)}>
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  );
}
