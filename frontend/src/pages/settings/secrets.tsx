/** A project's secrets: tokens of remote scorers by name. Values go in and never come out. */

import { api } from "../../api/endpoints.ts";
import type { Project } from "../../api/schema.ts";
import { useResource } from "../../ui/resource.ts";
import { Failed } from "../../ui/states.tsx";
import { attempt } from "../../ui/toasts.tsx";

export function Secrets({ project, owner }: { project: Project; owner: boolean }) {
  const secrets = useResource(() => api.secrets(project.id), [project.id]);
  const change = async (work: () => Promise<unknown>, done: string) => {
    const isDone = await attempt(work, done);
    if (isDone) secrets.reload();
    return isDone;
  };
  const add = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const given = new FormData(form);
    const [name, host, value] = ["name", "host", "value"].map((key) => String(given.get(key)));
    const body = { project: project.id, name: name ?? "", host: host ?? "", value: value ?? "" };
    if (await change(() => api.createSecret(body), `Secret “${body.name}” stored.`)) form.reset();
  };
  const rows = secrets.value ?? [];
  if (rows.length === 0 && !owner) return null;
  return (
    <details>
      <summary class="small">
        Secrets of remote scorers <span class="muted num">{rows.length}</span>
      </summary>
      <div class="stack-s">
        <p class="small muted">
          A reward names a secret; its value is sent to the one host given here, and never shown again.
        </p>
        {secrets.error !== null && <Failed message={secrets.error} onRetry={secrets.reload} />}
        {rows.length > 0 && (
          <table>
            <thead>
              <tr>
                <th>Secret</th>
                <th>Sent to</th>
                <th />
              </tr>
            </thead>
            <tbody>
              {rows.map((secret) => (
                <tr key={secret.id}>
                  <td>
                    <b>{secret.name}</b>
                  </td>
                  <td>{secret.host}</td>
                  <td class="right">
                    {owner && (
                      <button
                        type="button"
                        class="button small danger"
                        onClick={() => void change(() => api.deleteSecret(secret.id), `${secret.name} was deleted.`)}
                      >
                        Delete
                      </button>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
        {owner && (
          <form class="inline-form" onSubmit={(event) => void add(event)}>
            <label class="field">
              <span>Name</span>
              <input name="name" required maxLength={64} pattern="[a-z0-9][a-z0-9_\-]*" />
            </label>
            <label class="field">
              <span>Host</span>
              <input name="host" required maxLength={255} placeholder="scorer.example:8900" />
            </label>
            <label class="field">
              <span>Token</span>
              <input name="value" type="password" required autocomplete="off" />
            </label>
            <button type="submit" class="button">
              Store
            </button>
          </form>
        )}
      </div>
    </details>
  );
}
