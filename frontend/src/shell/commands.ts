/** What the command palette and the keyboard shortcuts can do: one list for both, and for the help. */

import { changeDensity, changeRail, changeTheme } from "./switches.ts";

export interface Command {
  readonly title: string;
  /** Keys one after the other, e.g. `g r`. */
  readonly keys?: string;
  /** Other words by which it is found. */
  readonly words?: string;
  readonly run: () => void;
}

const goTo = (address: string) => () => location.assign(address);

export const PAGE_COMMANDS: readonly Command[] = [
  { title: "Home", keys: "g h", run: goTo("/") },
  { title: "Runs", keys: "g r", run: goTo("/runs") },
  { title: "New run", keys: "g n", words: "create start train", run: goTo("/runs/new") },
  { title: "Compare", keys: "g c", run: goTo("/compare") },
  { title: "Sweeps", keys: "g w", words: "grid search seeds", run: goTo("/sweeps") },
  { title: "Queue", keys: "g q", words: "waiting policy shares", run: goTo("/queue") },
  { title: "Pool", keys: "g p", words: "nodes gpus lanes", run: goTo("/pool") },
  { title: "Occupancy", keys: "g o", run: goTo("/pool/occupancy") },
  { title: "Lending", keys: "g l", words: "ledger borrow", run: goTo("/lending") },
  { title: "Usage and cost", keys: "g u", words: "budget hours", run: goTo("/usage") },
  { title: "Prompt sets", keys: "g s", run: goTo("/prompt-sets") },
  { title: "Projects", keys: "g j", words: "members", run: goTo("/projects") },
  { title: "Audit log", keys: "g a", run: goTo("/audit") },
  { title: "API", words: "rest swagger openapi", run: goTo("/api/v1/docs") },
  { title: "Account and tokens", words: "password", run: goTo("/account") },
];

export const VIEW_COMMANDS: readonly Command[] = [
  { title: "Change the theme", keys: "t", words: "dark light", run: changeTheme },
  { title: "Comfortable or compact rows", keys: "d", words: "density", run: changeDensity },
  { title: "Narrow or wide navigation", keys: "[", words: "rail collapse", run: changeRail },
];

/** Those in which every word that was typed begins a word, in their order. */
export function matching(commands: readonly Command[], typed: string): readonly Command[] {
  const wanted = typed.toLowerCase().split(/\s+/).filter(Boolean);
  return commands.filter(({ title, words = "" }) => {
    const has = `${title} ${words}`.toLowerCase().split(/\s+/);
    return wanted.every((word) => has.some((one) => one.startsWith(word)));
  });
}
