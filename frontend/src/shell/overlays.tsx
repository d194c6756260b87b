/** What lies over every page when it is asked for: the command palette and the help. */

import { signal } from "@preact/signals";
import { CommandPalette } from "./command_palette.tsx";
import { type Command, PAGE_COMMANDS, VIEW_COMMANDS } from "./commands.ts";
import { ShortcutHelp } from "./shortcut_help.tsx";

const shown = signal<"palette" | "help" | null>(null);

export const openPalette = () => {
  shown.value = "palette";
};
export const openHelp = () => {
  shown.value = "help";
};
/** A dialog reports that it closed after the browser has closed it: another may have been asked for meanwhile. */
const close = (one: "palette" | "help") => () => {
  if (shown.value === one) shown.value = null;
};

export const COMMANDS: readonly Command[] = [
  ...PAGE_COMMANDS,
  ...VIEW_COMMANDS,
  { title: "Keyboard shortcuts", keys: "?", words: "help keys", run: openHelp },
];

export function Overlays() {
  if (shown.value === "palette") return <CommandPalette commands={COMMANDS} onClose={close("palette")} />;
  if (shown.value === "help") return <ShortcutHelp onClose={close("help")} />;
  return null;
}
