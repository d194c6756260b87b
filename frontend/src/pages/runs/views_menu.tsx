/** The menu of saved views: open one, save what is on the page, share it with a project, forget one. */

import type { TargetedSubmitEvent } from "preact";
import { useState } from "preact/hooks";
import { messageOf } from "../../api/client.ts";
import { api } from "../../api/endpoints.ts";
import type { SavedView } from "../../api/schema.ts";
import { Icon } from "../../ui/icon.tsx";
import { useResource } from "../../ui/resource.ts";
import type { RunView } from "./run_view.ts";
import { grouped, openView, saveView, sharable } from "./saved_views.ts";

interface Props {
  readonly view: RunView;
  readonly onChange: (view: RunView) => void;
  /** The name that this menu has in common with those beside it, of which one is open at a time. */
  readonly menus: string;
}

export function ViewsMenu({ view, onChange, menus }: Props) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="menu" name={menus} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary class="button">
        <Icon name="bookmark" /> Views
      </summary>
      <div class="menu-items choices">{isOpen && <Choices view={view} onChange={onChange} />}</div>
    </details>
  );
}

function Choices({ view, onChange }: Omit<Props, "menus">) {
  const saved = useResource(api.runViews, []);
  const projects = useResource(api.projects, []);
  const [problem, setProblem] = useState<string | null>(null);
  const change = async (act: () => Promise<unknown>) => {
    try {
      await act();
      setProblem(null);
      saved.reload();
    } catch (failure) {
      setProblem(messageOf(failure));
    }
  };
  const save = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const typed = new FormData(form);
    const project = String(typed.get("project") ?? "") || null;
    void change(async () => {
      await saveView(view, String(typed.get("name")).trim(), project);
      form.reset();
    });
  };
  const failure = problem ?? saved.error;
  return (
    <>
      {failure !== null && (
        <p class="notice bad small" role="alert">
          {failure}
        </p>
      )}
      {grouped(saved.value ?? []).map(({ title, views }) => (
        <section key={title} aria-label={title}>
          <p class="tiny faint">{title}</p>
          {views.map((one) => (
            <Line
              key={one.id}
              view={one}
              onOpen={() => onChange(openView(one))}
              onForget={() => void change(() => api.forgetView(one.id))}
            />
          ))}
        </section>
      ))}
      <form class="save-view" onSubmit={save}>
        <input name="name" aria-label="Name of this view" placeholder="Name of this view" maxLength={60} required />
        <select name="project" aria-label="Who sees the view">
          <option value="">only me</option>
          {sharable(projects.value ?? []).map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
        <button type="submit" class="button small">
          Save
        </button>
      </form>
    </>
  );
}

interface LineProps {
  readonly view: SavedView;
  readonly onOpen: () => void;
  readonly onForget: () => void;
}

function Line({ view, onOpen, onForget }: LineProps) {
  return (
    <div class="saved-view">
      <button type="button" class="link-button truncate" title={`Saved by ${view.saved_by}`} onClick={onOpen}>
        {view.name}
      </button>
      <button type="button" class="button quiet small" aria-label={`Forget the view ${view.name}`} onClick={onForget}>
        <Icon name="close" />
      </button>
    </div>
  );
}
