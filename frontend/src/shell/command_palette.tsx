/** The command palette: pages, what changes the view, and the user's runs by name. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { messageOf } from "../api/client.ts";
import { api } from "../api/endpoints.ts";
import { debounced } from "../base/frames.ts";
import { Dialog } from "../ui/dialog.tsx";
import { type Command, matching } from "./commands.ts";

const TYPING_MILLISECONDS = 180;
const MAX_RUNS = 8;

/** The runs whose names or notes hold what was typed. */
function useRuns(typed: string) {
  const [runs, setRuns] = useState<readonly Command[]>([]);
  const asked = useRef("");
  const read = useMemo(
    () =>
      debounced((search: string) => {
        api.listRuns({ search }).then(
          ({ results }) => asked.current === search && setRuns(results.slice(0, MAX_RUNS).map(asCommand)),
          (error: unknown) => console.warn(`no runs in the palette: ${messageOf(error)}`),
        );
      }, TYPING_MILLISECONDS),
    [],
  );
  useEffect(() => {
    asked.current = typed.trim();
    if (asked.current) read(asked.current);
    else setRuns([]);
  }, [typed]);
  return runs;
}

const asCommand = ({ id, name, state }: { id: string; name: string; state: string }): Command => ({
  title: name,
  words: state,
  run: () => location.assign(`/runs/${id}`),
});

export function CommandPalette({ commands, onClose }: { commands: readonly Command[]; onClose: () => void }) {
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const runs = useRuns(typed);
  const found = [...matching(commands, typed), ...runs];
  const chosen = Math.min(at, found.length - 1);
  useEffect(() => document.getElementById(`command-${chosen}`)?.scrollIntoView({ block: "nearest" }), [chosen]);

  const run = (command: Command | undefined) => {
    if (!command) return;
    onClose();
    command.run();
  };
  const move = (event: KeyboardEvent) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Enter") run(found[chosen]);
    else if (by !== undefined && found.length > 0) setAt((chosen + by + found.length) % found.length);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Search and commands" kind="palette" onClose={onClose}>
      <input
        type="text"
        role="combobox"
        aria-label="Search pages, runs and commands"
        aria-expanded="true"
        aria-controls="commands"
        aria-activedescendant={found.length > 0 ? `command-${chosen}` : undefined}
        placeholder="Go to a page or a run, or do something"
        autofocus
        onInput={(event) => {
          setTyped(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={move}
      />
      <div class="palette-list" id="commands" role="listbox" aria-label="Found">
        {found.map((command, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the focus and takes the keys.
          <div
            key={`${command.title}-${index}`}
            id={`command-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            onClick={() => run(command)}
            onMouseMove={() => setAt(index)}
          >
            <span class="truncate">{command.title}</span>
            {runs.includes(command) ? <span class="tiny faint">run, {command.words}</span> : <Keys of={command} />}
          </div>
        ))}
      </div>
      {found.length === 0 && <p class="small muted palette-none">Nothing is called so.</p>}
    </Dialog>
  );
}

export function Keys({ of }: { of: Command }) {
  if (of.keys === undefined) return null;
  return (
    <span class="keys">
      {of.keys.split(" ").map((key) => (
        <kbd key={key}>{key}</kbd>
      ))}
    </span>
  );
}
