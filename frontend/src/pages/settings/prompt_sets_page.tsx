/** Prompt sets of the user's projects: upload from a text file or by pasting, look inside, delete. */

import type { TargetedEvent, TargetedSubmitEvent } from "preact";
import { useRef, useState } from "preact/hooks";
import { messageOf } from "../../api/client.ts";
import { api } from "../../api/endpoints.ts";
import type { Project, PromptSet } from "../../api/schema.ts";
import { entriesOf, textOf } from "../../base/prompts.ts";
import { Confirm } from "../../ui/dialog.tsx";
import { useResource } from "../../ui/resource.ts";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { attempt, toast } from "../../ui/toasts.tsx";

export function PromptSetsPage() {
  const sets = useResource(api.promptSets, []);
  const projects = useResource(api.projects, []);
  const [toDelete, setToDelete] = useState<PromptSet | null>(null);
  const remove = async (set: PromptSet) => {
    if (await attempt(() => api.deletePromptSet(set.id), "Deleted.")) sets.reload();
  };
  const nameOf = (project: string) => projects.value?.find((one) => one.id === project)?.name;
  return (
    <div class="stack">
      <h1>Prompt sets</h1>
      <Upload projects={(projects.value ?? []).filter((project) => project.role !== "viewer")} onDone={sets.reload} />
      <section class="card flush" aria-label="Uploaded sets">
        {sets.error !== null && <Failed message={sets.error} onRetry={sets.reload} />}
        {sets.value === undefined && sets.error === null && (
          <div style={{ padding: "16px" }}>
            <Loading />
          </div>
        )}
        {sets.value?.length === 0 && (
          <Empty title="No prompt sets yet">Upload one above; runs of its project can then choose it.</Empty>
        )}
        {sets.value && sets.value.length > 0 && (
          <div class="table-wrap">
            <table>
              <thead>
                <tr>
                  <th>Set</th>
                  <th>Project</th>
                  <th class="right">Prompts</th>
                  <th>First prompts</th>
                  <th />
                </tr>
              </thead>
              <tbody>
                {sets.value.map((set) => (
                  <tr key={set.id}>
                    <td>
                      <b>{set.name}</b>
                    </td>
                    <td class="muted">{nameOf(set.project) ?? "–"}</td>
                    <td class="right num">{set.num_prompts}</td>
                    <td class="muted small">{set.prompts.slice(0, 3).map(textOf).join(" · ")}</td>
                    <td class="right">
                      <button type="button" class="button small danger" onClick={() => setToDelete(set)}>
                        Delete
                      </button>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </section>
      {toDelete && (
        <Confirm
          title={`Delete “${toDelete.name}”?`}
          text="Runs that used it keep their own copy of the prompts; new runs can no longer choose it."
          action="Delete the set"
          onConfirm={() => void remove(toDelete)}
          onClose={() => setToDelete(null)}
        />
      )}
    </div>
  );
}

function Upload({ projects, onDone }: { projects: readonly Project[]; onDone: () => void }) {
  const form = useRef<HTMLFormElement>(null);
  const [text, setText] = useState("");
  const [error, setError] = useState<string | null>(null);
  const prompts = entriesOf(text);
  const readFile = async (event: TargetedEvent<HTMLInputElement>) => {
    const file = event.currentTarget.files?.[0];
    if (!file) return;
    setText(await file.text());
    const name = form.current?.elements.namedItem("name");
    if (name instanceof HTMLInputElement && !name.value) name.value = file.name.replace(/\.[^.]+$/, "");
  };
  const submit = async (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    try {
      await api.createPromptSet({ project: String(data.get("project")), name: String(data.get("name")), prompts });
      setError(null);
      setText("");
      form.current?.reset();
      toast(`Uploaded ${prompts.length} prompts.`);
      onDone();
    } catch (failure) {
      setError(messageOf(failure));
    }
  };
  if (projects.length === 0) return null;
  return (
    <form ref={form} class="card stack" aria-label="Upload a prompt set" onSubmit={(event) => void submit(event)}>
      <h2>Upload a set</h2>
      <div class="inline-form">
        <label class="field">
          <span>Name</span>
          <input name="name" required maxLength={100} />
        </label>
        <label class="field">
          <span>Project</span>
          <select name="project">
            {projects.map((project) => (
              <option key={project.id} value={project.id}>
                {project.name}
              </option>
            ))}
          </select>
        </label>
        <label class="field">
          <span>From a text file</span>
          <input type="file" accept=".txt,.jsonl,text/plain" onChange={(event) => void readFile(event)} />
        </label>
      </div>
      <label class="field">
        <span>Prompts, one a line: a text, or a JSON object with text and metadata</span>
        <textarea rows={6} value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      {error !== null && <Failed message={error} />}
      <div class="row">
        <button type="submit" class="button primary" disabled={prompts.length === 0}>
          Upload {prompts.length > 0 ? `${prompts.length} prompts` : ""}
        </button>
      </div>
    </form>
  );
}
