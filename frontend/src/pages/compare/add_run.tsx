/** Finds a run by its name on the server, and adds it to the comparison. */

import { useEffect, useState } from "preact/hooks";
import { api } from "../../api/endpoints.ts";
import { useResource } from "../../ui/resource.ts";

/** Runs offered at once; a longer list is narrowed by typing. */
const MAX_OFFERED = 8;
/** From the last key until the server is asked. */
const PAUSE_MILLISECONDS = 200;

export function AddRun({ chosen, onAdd }: { chosen: readonly string[]; onAdd: (id: string) => void }) {
  const [text, setText] = useState("");
  const [search, setSearch] = useState("");
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSearch(text.trim()), PAUSE_MILLISECONDS);
    return () => clearTimeout(timer);
  }, [text]);
  const found = useResource(() => api.listRuns({ search: search || undefined }), [search]);
  const offered = (found.value?.results ?? []).filter(({ id }) => !chosen.includes(id)).slice(0, MAX_OFFERED);
  const leave = (event: FocusEvent & { currentTarget: HTMLElement }) => {
    if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setOpen(false);
  };
  return (
    <div
      class="compare-add"
      role="search"
      onFocusOut={leave}
      onKeyDown={(event) => event.key === "Escape" && setOpen(false)}
    >
      <input
        type="search"
        aria-label="Add a run"
        placeholder="Add a run by name…"
        value={text}
        onFocus={() => setOpen(true)}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      {isOpen && (
        <ul class="compare-offers" aria-label="Runs to add">
          {offered.map((run) => (
            <li key={run.id}>
              <button
                type="button"
                onClick={() => {
                  onAdd(run.id);
                  setText("");
                }}
              >
                <span class="truncate">{run.name}</span>
                <span class="tiny faint num">
                  {run.state}, {run.num_batches_done} of {run.num_batches}
                </span>
              </button>
            </li>
          ))}
          {found.value && offered.length === 0 && <li class="small muted">No other run has such a name.</li>}
          {found.error !== null && <li class="small">{found.error}</li>}
        </ul>
      )}
    </div>
  );
}
