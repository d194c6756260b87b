/** Keyboard shortcuts: keys pressed one after the other outside of fields and dialogs. */

import type { Command } from "./commands.ts";

/** After which the first key of two is forgotten. */
const PAUSE_MILLISECONDS = 1200;

export interface KeyPress {
  readonly key: string;
  /** Milliseconds. */
  readonly at: number;
}

/** Takes key presses; answers the command that one completes. */
export function keySequence(commands: readonly Command[]): (press: KeyPress) => Command | undefined {
  let begun: KeyPress | null = null;
  return (press) => {
    const isSecond = begun !== null && press.at - begun.at <= PAUSE_MILLISECONDS;
    const typed = isSecond && begun ? `${begun.key} ${press.key}` : press.key;
    const command = commands.find(({ keys }) => keys === typed);
    begun = !isSecond && commands.some(({ keys }) => keys?.startsWith(`${press.key} `)) ? press : null;
    return command;
  };
}

/** Where keys mean letters, or belong to an open dialog. */
const TYPING = "input, select, textarea, [contenteditable], dialog[open], [role='dialog']";

/** Whether a key press is no shortcut: it writes, is for an open dialog, was taken already, or is the browser's. */
export function isTypedElsewhere(event: KeyboardEvent): boolean {
  const isWritten = event.target instanceof Element && event.target.closest(TYPING) !== null;
  return isWritten || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey;
}

export function installShortcuts(commands: readonly Command[], openPalette: () => void): void {
  const pressed = keySequence(commands);
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      openPalette();
      return;
    }
    if (isTypedElsewhere(event)) return;
    const command = pressed({ key: event.key, at: event.timeStamp });
    if (!command) return;
    event.preventDefault();
    command.run();
  });
}
