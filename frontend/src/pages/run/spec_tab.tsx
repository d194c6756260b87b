/** What was asked for, resolved; the user's notes and tags. */

import { useState } from "preact/hooks";
import { api } from "../../api/endpoints.ts";
import { words } from "../../base/format.ts";
import { isObject, type JsonObject } from "../../base/paths.ts";
import { inWords } from "../../base/spec_words.ts";
import { CopyButton } from "../../ui/controls.tsx";
import { Terms } from "../../ui/term.tsx";
import { attempt } from "../../ui/toasts.tsx";
import { inFormOrder } from "../new_run/fields.ts";
import { mayEdit, type RunProps } from "./context.ts";
import { MirrorsPanel } from "./mirrors_panel.tsx";

export function SpecTab(props: RunProps) {
  const { run } = props;
  const spec: JsonObject = run.spec;
  const keys = inFormOrder("", Object.keys(spec));
  const plain = keys.filter((key) => !isObject(spec[key]));
  return (
    <div class="stack">
      <div class="grid-2">
        <NotesAndTags {...props} />
        <section class="card" aria-label="Batch algebra">
          <div class="card-head">
            <h2>Batch algebra</h2>
          </div>
          <p>
            <Terms>{run.algebra_text}</Terms>
          </p>
        </section>
      </div>
      <MirrorsPanel run={run} />
      <section class="card" aria-label="Spec">
        <div class="card-head">
          <h2>Spec</h2>
          <div class="row">
            <CopyButton text={JSON.stringify(run.spec, null, 2)} label="Copy as JSON" />
            <a class="button small" href={`/runs/new?from=${run.id}`}>
              Edit and rerun
            </a>
          </div>
        </div>
        <div class="spec-sections">
          <SpecSection title="Run" keys={plain} section={spec} />
          {keys.map((name) => {
            const section = spec[name];
            return (
              isObject(section) && (
                <SpecSection
                  key={name}
                  title={words(name)}
                  keys={inFormOrder(name, Object.keys(section))}
                  section={section}
                />
              )
            );
          })}
        </div>
      </section>
    </div>
  );
}

function SpecSection({ title, keys, section }: { title: string; keys: readonly string[]; section: JsonObject }) {
  return (
    <div>
      <h3>{title}</h3>
      <dl class="kv">
        {keys.map((key) => [
          <dt key={key}>{key}</dt>,
          <dd key={`${key}=`} class="num">
            {inWords(section[key] ?? null)}
          </dd>,
        ])}
      </dl>
    </div>
  );
}

function NotesAndTags({ store, run }: RunProps) {
  const [notes, setNotes] = useState(run.notes);
  const [tags, setTags] = useState(run.tags.join(", "));
  const editable = mayEdit(run);
  const wanted = tags
    .split(",")
    .map((tag) => tag.trim())
    .filter(Boolean);
  const changed = notes !== run.notes || wanted.join("\n") !== run.tags.join("\n");
  const save = async (event: SubmitEvent) => {
    event.preventDefault();
    if (await attempt(() => api.patchRun(run.id, { notes, tags: wanted }), "Saved.")) await store.refreshRun();
  };
  return (
    <form class="card stack-s" aria-label="Notes and tags" onSubmit={(event) => void save(event)}>
      <h2>Notes and tags</h2>
      <label class="field">
        <span>Notes</span>
        <textarea
          rows={5}
          value={notes}
          readOnly={!editable}
          placeholder="What you wanted to find out, what you saw"
          onInput={(event) => setNotes(event.currentTarget.value)}
        />
      </label>
      <label class="field">
        <span>Tags, separated by commas</span>
        <input value={tags} readOnly={!editable} onInput={(event) => setTags(event.currentTarget.value)} />
      </label>
      {editable && (
        <div class="row">
          <button type="submit" class="button primary" disabled={!changed}>
            Save
          </button>
        </div>
      )}
    </form>
  );
}
