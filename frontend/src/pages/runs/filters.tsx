/** What the runs list is filtered and grouped by, which columns it has, and views saved under names. */

import type { TargetedSubmitEvent } from "preact";
import { useMemo, useState } from "preact/hooks";
import { runStateValues } from "../../api/schema.ts";
import { debounced } from "../../base/frames.ts";
import { Icon } from "../../ui/icon.tsx";
import { COLUMNS, chosenColumns, toggleColumn } from "./columns.tsx";
import { GROUPS, type RunView, searchOfView, viewFromSearch } from "./run_view.ts";
import { forgetView, savedViews, saveView } from "./saved_views.ts";

const TYPING_MILLISECONDS = 250;
/** One name for all menus: opening one closes the others. */
const MENUS = "runs-menu";

interface Props {
  readonly view: RunView;
  readonly onChange: (view: RunView) => void;
}

export function Filters({ view, onChange }: Props) {
  const search = useMemo(
    () => debounced((text: string) => onChange({ ...view, search: text || undefined }), TYPING_MILLISECONDS),
    [view, onChange],
  );
  return (
    <div class="filters" role="search">
      <input
        type="search"
        placeholder="Search name, notes and tags"
        aria-label="Search runs"
        value={view.search ?? ""}
        onInput={(event) => search(event.currentTarget.value)}
      />
      <States view={view} onChange={onChange} />
      <Check label="Mine" isOn={view.mine} onToggle={() => onChange({ ...view, mine: !view.mine })} />
      <Check label="Archived" isOn={view.archived} onToggle={() => onChange({ ...view, archived: !view.archived })} />
      {view.tag && (
        <InForce what={`tag ${view.tag}`} onRemove={() => onChange({ ...view, tag: undefined })}>
          {view.tag}
        </InForce>
      )}
      {view.endedDays && (
        <InForce what={`the last ${view.endedDays} days`} onRemove={() => onChange({ ...view, endedDays: undefined })}>
          ended within {view.endedDays} days
        </InForce>
      )}
      <span class="filters-end">
        <select
          aria-label="Group by"
          value={view.group ?? ""}
          onChange={({ currentTarget: { value } }) =>
            onChange({ ...view, group: GROUPS.find((group) => group === value) })
          }
        >
          <option value="">No groups</option>
          {GROUPS.map((group) => (
            <option key={group} value={group}>
              By {group}
            </option>
          ))}
        </select>
        <Columns />
        <Views view={view} onChange={onChange} />
      </span>
    </div>
  );
}

function Check({ label, isOn, onToggle }: { label: string; isOn: boolean; onToggle: () => void }) {
  return (
    <label class="check">
      <input type="checkbox" checked={isOn} onChange={onToggle} />
      {label}
    </label>
  );
}

function InForce(props: { what: string; onRemove: () => void; children: preact.ComponentChildren }) {
  return (
    <button type="button" class="tag on" aria-label={`Remove the filter on ${props.what}`} onClick={props.onRemove}>
      {props.children} <Icon name="close" />
    </button>
  );
}

function States({ view, onChange }: Props) {
  const { states } = view;
  const toggled = (state: (typeof states)[number]) =>
    runStateValues.filter((one) => (one === state ? !states.includes(one) : states.includes(one)));
  const said = states.length === 0 ? "Any state" : states.length <= 2 ? states.join(", ") : `${states.length} states`;
  return (
    <details class="menu" name={MENUS}>
      <summary class="button" aria-label={`State: ${said}`}>
        {said} <Icon name="down" />
      </summary>
      <div class="menu-items choices">
        {runStateValues.map((state) => (
          <Check
            key={state}
            label={state}
            isOn={states.includes(state)}
            onToggle={() => onChange({ ...view, states: toggled(state) })}
          />
        ))}
      </div>
    </details>
  );
}

function Columns() {
  const shown = chosenColumns();
  return (
    <details class="menu hide-narrow" name={MENUS}>
      <summary class="button">
        <Icon name="columns" /> Columns
      </summary>
      <div class="menu-items choices">
        {COLUMNS.map((column) => (
          <Check
            key={column.id}
            label={column.label}
            isOn={shown.includes(column)}
            onToggle={() => toggleColumn(column.id)}
          />
        ))}
      </div>
    </details>
  );
}

function Views({ view, onChange }: Props) {
  const [saved, setSaved] = useState(savedViews);
  const save = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const name = String(new FormData(event.currentTarget).get("name")).trim();
    if (!name) return;
    saveView({ name, search: searchOfView(view) });
    event.currentTarget.reset();
    setSaved(savedViews());
  };
  const forget = (name: string) => {
    forgetView(name);
    setSaved(savedViews());
  };
  return (
    <details class="menu" name={MENUS}>
      <summary class="button">
        <Icon name="bookmark" /> Views
      </summary>
      <div class="menu-items choices">
        {saved.map(({ name, search }) => (
          <div key={name} class="saved-view">
            <button type="button" class="link-button truncate" onClick={() => onChange(viewFromSearch(search))}>
              {name}
            </button>
            <button
              type="button"
              class="button quiet small"
              aria-label={`Forget the view ${name}`}
              onClick={() => forget(name)}
            >
              <Icon name="close" />
            </button>
          </div>
        ))}
        <form class="saved-view" onSubmit={save}>
          <input name="name" aria-label="Name of this view" placeholder="Name of this view" maxLength={60} required />
          <button type="submit" class="button small">
            Save
          </button>
        </form>
      </div>
    </details>
  );
}
