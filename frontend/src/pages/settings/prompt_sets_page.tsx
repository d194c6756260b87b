/** Prompt sets of the user's projects: upload from a text file or by pasting, look inside, delete. */

import { useState } from "preact/hooks";
import { api } from "../../api/endpoints.ts";
import type { ListedPromptSet } from "../../api/schema.ts";
import { number } from "../../base/format.ts";
import { textOf } from "../../base/prompts.ts";
import { Confirm } from "../../ui/dialog.tsx";
import { useResource } from "../../ui/resource.ts";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { attempt } from "../../ui/toasts.tsx";
import { PromptUpload } from "./prompt_upload_form.tsx";

export function PromptSetsPage() {
  const sets = useResource(api.promptSets, []);
  const projects = useResource(api.projects, []);
  const [toDelete, setToDelete] = useState<ListedPromptSet | null>(null);
  const remove = async (set: ListedPromptSet) => {
    if (await attempt(() => api.deletePromptSet(set.id), "Deleted.")) sets.reload();
  };
  const nameOf = (project: string) => projects.value?.find((one) => one.id === project)?.name;
  return (
    <div class="stack">
      <h1>Prompt sets</h1>
      <PromptUpload
        projects={(projects.value ?? []).filter((project) => project.role !== "viewer")}
        onDone={sets.reload}
      />
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
                    <td class="right num">{number(set.num_prompts)}</td>
                    <td class="muted small">{set.first_prompts.map(textOf).join(" · ")}</td>
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
