/** The list of keyboard shortcuts. */

import { Dialog } from "../ui/dialog.tsx";
import { Keys } from "./command_palette.tsx";
import { type Command, PAGE_COMMANDS, VIEW_COMMANDS } from "./commands.ts";

const ELSEWHERE: readonly (readonly [string, string])[] = [
  ["Ctrl K or ⌘ K", "Search pages, runs and commands"],
  ["?", "This list"],
  ["Esc", "Close what is open"],
];

const IN_THE_RUNS_LIST: readonly (readonly [string, string])[] = [
  ["j", "Next run"],
  ["k", "Run before"],
  ["x", "Choose it, or not"],
  ["Enter", "Open it"],
];

export function ShortcutHelp({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <Section title="Everywhere">
        <Listed of={ELSEWHERE} />
        <Commands of={VIEW_COMMANDS} />
      </Section>
      <Section title="In the list of runs">
        <Listed of={IN_THE_RUNS_LIST} />
      </Section>
      <Section title="Go to">
        <Commands of={PAGE_COMMANDS} />
      </Section>
    </Dialog>
  );
}

function Section({ title, children }: { title: string; children: preact.ComponentChildren }) {
  return (
    <section class="stack-s">
      <h3>{title}</h3>
      <ul class="shortcuts">{children}</ul>
    </section>
  );
}

function Listed({ of }: { of: readonly (readonly [string, string])[] }) {
  return (
    <>
      {of.map(([keys, what]) => (
        <li key={keys}>
          <span>{what}</span>
          <kbd>{keys}</kbd>
        </li>
      ))}
    </>
  );
}

function Commands({ of }: { of: readonly Command[] }) {
  return (
    <>
      {of
        .filter(({ keys }) => keys !== undefined)
        .map((command) => (
          <li key={command.title}>
            <span>{command.title}</span>
            <Keys of={command} />
          </li>
        ))}
    </>
  );
}
