/** What the runs list is filtered and grouped by, and which columns it has. */

import { useMemo } from "preact/hooks";
import { runStateValues } from "../../api/schema.ts";
import { debounced } from "../../base/frames.ts";
import { Icon } from "../../ui/icon.tsx";
import { COLUMNS, chosenColumns, toggleColumn } from "./columns.tsx";
import { GROUP_LABELS, GROUPS, type RunView } from "./run_view.ts";
import { ViewsMenu } from "./views_menu.tsx";

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
              By {GROUP_LABELS[group]}
            </option>
          ))}
        </select>
        <Columns />
        <ViewsMenu view={view} onChange={onChange} menus={MENUS} />
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
