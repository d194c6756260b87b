/** Filters of the runs list; they live in the address, so that a view can be bookmarked and shared. */

import { useMemo } from "preact/hooks";
import { searchOf } from "../../api/client.ts";
import type { RunFilter } from "../../api/endpoints.ts";
import { type Project, type RunState, runStateValues } from "../../api/schema.ts";
import { debounced } from "../../base/frames.ts";
import { Icon } from "../../ui/icon.tsx";

const TYPING_MILLISECONDS = 250;

export function filterFromAddress(): RunFilter {
  const search = new URLSearchParams(location.search);
  const get = (name: string) => search.get(name) ?? undefined;
  return {
    project: get("project"),
    state: stateOf(search.get("state")),
    tag: get("tag"),
    search: get("search"),
    archived: search.get("archived") === "true" ? true : undefined,
  };
}

function stateOf(text: string | null): RunState | undefined {
  return runStateValues.find((state) => state === text);
}

export function rememberFilter(filter: RunFilter): void {
  history.replaceState(null, "", location.pathname + searchOf(filter));
}

export function Filters(props: {
  filter: RunFilter;
  projects: readonly Project[];
  onChange: (filter: RunFilter) => void;
}) {
  const { filter, onChange } = props;
  const search = useMemo(
    () => debounced((text: string) => onChange({ ...filter, search: text || undefined }), TYPING_MILLISECONDS),
    [filter, onChange],
  );
  return (
    <div class="filters" role="search">
      <input
        type="search"
        placeholder="Search name and notes"
        aria-label="Search runs"
        defaultValue={filter.search ?? ""}
        onInput={(event) => search(event.currentTarget.value)}
      />
      <select
        aria-label="State"
        value={filter.state ?? ""}
        onChange={(event) => onChange({ ...filter, state: stateOf(event.currentTarget.value) })}
      >
        <option value="">any state</option>
        {runStateValues.map((state) => (
          <option key={state}>{state}</option>
        ))}
      </select>
      {props.projects.length > 1 && (
        <select
          aria-label="Project"
          value={filter.project ?? ""}
          onChange={(event) => onChange({ ...filter, project: event.currentTarget.value || undefined })}
        >
          <option value="">all projects</option>
          {props.projects.map((project) => (
            <option key={project.id} value={project.id}>
              {project.name}
            </option>
          ))}
        </select>
      )}
      {filter.tag && (
        <button
          type="button"
          class="tag on"
          aria-label={`Remove the filter on tag ${filter.tag}`}
          onClick={() => onChange({ ...filter, tag: undefined })}
        >
          {filter.tag} <Icon name="close" />
        </button>
      )}
      <label class="check">
        <input
          type="checkbox"
          checked={filter.archived ?? false}
          onChange={(event) => onChange({ ...filter, archived: event.currentTarget.checked || undefined })}
        />
        Archived
      </label>
    </div>
  );
}
