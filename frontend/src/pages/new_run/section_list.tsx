/** The steps of the form at its left: what is chosen in each, where something is refused, and a search over settings. */

import { useState } from "preact/hooks";
import { Icon } from "../../ui/icon.tsx";
import type { FormModel } from "./form_model.ts";
import type { FormView } from "./form_view.ts";
import { findSettings } from "./setting_search.ts";
import { summaryOf } from "./step_summary.ts";
import { STEPS, stepById, stepOf } from "./steps.ts";

interface Props {
  readonly model: FormModel;
  readonly view: FormView;
}

export function SectionList({ model, view }: Props) {
  const errors = model.validator.allErrors();
  const open = (go: () => void) => {
    model.show(false);
    go();
  };
  return (
    <nav class="section-list" aria-label="Sections of the form">
      <Search model={model} reveal={(path) => open(() => view.reveal(path))} />
      <ol>
        {STEPS.map(({ id, title }, index) => {
          const numRefused = errors.filter(({ path }) => path !== "" && stepOf(path) === id).length;
          const isCurrent = !model.asYaml.value && view.step.value === id;
          return (
            <li key={id}>
              <button
                type="button"
                class={`section ${numRefused > 0 ? "refused" : ""}`}
                aria-current={isCurrent ? "step" : undefined}
                onClick={() =>
                  open(() => {
                    view.step.value = id;
                  })
                }
              >
                <span class="section-number num">{index + 1}</span>
                <span class="section-title">{title}</span>
                {numRefused > 0 && (
                  <span class="section-refused">
                    <Icon name="warning" />
                    <span class="num">{numRefused}</span>
                    <span class="visually-hidden"> to put right</span>
                  </span>
                )}
                <span class="section-summary">{summaryOf(id, (path) => model.value(path))}</span>
              </button>
            </li>
          );
        })}
      </ol>
    </nav>
  );
}

function Search({ model, reveal }: { model: FormModel; reveal: (path: string) => void }) {
  const [query, setQuery] = useState("");
  const found = findSettings(query, model.schema, model.spec.value);
  const go = (path: string) => {
    setQuery("");
    reveal(path);
  };
  return (
    <div class="setting-search">
      <input
        type="search"
        placeholder="Find a setting"
        aria-label="Find a setting by label or key"
        value={query}
        onInput={(event) => setQuery(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && found[0]) go(found[0].path);
          if (event.key === "Escape") setQuery("");
        }}
      />
      {query.trim() !== "" && (
        <ul class="settings-found" aria-label="Settings found">
          {found.length === 0 && <li class="small muted">No setting of that name or key.</li>}
          {found.map(({ path, label }) => (
            <li key={path}>
              <button type="button" onClick={() => go(path)}>
                <span>{label}</span>
                <span class="tiny faint">{stepById(stepOf(path)).title}</span>
                <span class="mono tiny muted">{path}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
