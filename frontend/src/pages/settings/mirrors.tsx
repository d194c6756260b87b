/** A project's mirrors: other tools that show its runs. Owners manage them; members see where they are. */

import { useState } from "preact/hooks";
import { api } from "../../api/endpoints.ts";
import type { Mirror, NewMirror, Project } from "../../api/schema.ts";
import { KIND_WORDS } from "../../base/mirror_words.ts";
import { Confirm } from "../../ui/dialog.tsx";
import { useResource } from "../../ui/resource.ts";
import { Failed } from "../../ui/states.tsx";
import { attempt } from "../../ui/toasts.tsx";
import { MirrorForm } from "./mirror_form.tsx";

export function Mirrors({ project, owner }: { project: Project; owner: boolean }) {
  const mirrors = useResource(() => api.mirrors(project.id), [project.id]);
  const [toDelete, setToDelete] = useState<Mirror | null>(null);
  const change = async (work: () => Promise<unknown>, done: string) => {
    const isDone = await attempt(work, done);
    if (isDone) mirrors.reload();
    return isDone;
  };
  const create = (wanted: NewMirror) =>
    change(() => api.createMirror(wanted), `Mirror “${wanted.name}” made: it follows the runs that work from now on.`);
  const rows = mirrors.value ?? [];
  if (rows.length === 0 && !owner) return null;
  return (
    <details>
      <summary class="small">
        Mirrors to W&B, MLflow and TensorBoard <span class="muted num">{rows.length}</span>
      </summary>
      <div class="stack-s">
        <p class="small muted">
          Metrics, pictures and settings of runs are copied once a minute, without slowing them down. Nothing is lost
          where a server is away.
        </p>
        {mirrors.error !== null && <Failed message={mirrors.error} onRetry={mirrors.reload} />}
        {rows.map((mirror) => (
          <MirrorRow
            key={mirror.id}
            mirror={mirror}
            owner={owner}
            onSwitch={() =>
              void change(
                () => api.changeMirror(mirror.id, { is_active: !mirror.is_active }),
                `${mirror.name} is ${mirror.is_active ? "off" : "on"}.`,
              )
            }
            onTryAgain={() => void change(() => api.tryMirrorAgain(mirror.id), `${mirror.name} is tried again.`)}
            onCredential={(credential) =>
              change(async () => {
                await api.changeMirror(mirror.id, { credential });
                if (mirror.num_failing > 0) await api.tryMirrorAgain(mirror.id);
              }, `${mirror.name} has the new credential.`)
            }
            onDelete={() => setToDelete(mirror)}
          />
        ))}
        {owner && <MirrorForm project={project.id} onCreate={create} />}
      </div>
      {toDelete && (
        <Confirm
          title={`Delete ${toDelete.name}?`}
          text="Runs are written to it no more. What is there already stays there."
          action="Delete"
          onConfirm={() => void change(() => api.deleteMirror(toDelete.id), `${toDelete.name} was deleted.`)}
          onClose={() => setToDelete(null)}
        />
      )}
    </details>
  );
}

interface RowProps {
  readonly mirror: Mirror;
  readonly owner: boolean;
  readonly onSwitch: () => void;
  readonly onTryAgain: () => void;
  readonly onCredential: (credential: string) => Promise<boolean>;
  readonly onDelete: () => void;
}

function MirrorRow({ mirror, owner, onSwitch, onTryAgain, onCredential, onDelete }: RowProps) {
  const [isChanging, setChanging] = useState(false);
  const where = mirror.folder || `${mirror.address} · ${mirror.place}`;
  return (
    <article class="setting-row" aria-label={mirror.name}>
      <div class="setting-row-what">
        <div class="row">
          <b>{mirror.name}</b>
          <span class="tag">{KIND_WORDS[mirror.kind]}</span>
          {!mirror.is_active && <span class="small mirror-off">off</span>}
          {mirror.num_failing > 0 && <span class="small mirror-failing">{runs(mirror.num_failing)} failing</span>}
        </div>
        <div class="mono small muted setting-row-address" title={where}>
          {where}
        </div>
        <div class="small faint">
          {mirror.is_for_every_run ? "every run" : "runs whose spec names it"} · {runs(mirror.num_runs)} so far
        </div>
      </div>
      {owner && (
        <div class="row">
          {mirror.num_failing > 0 && (
            <button type="button" class="button small" onClick={onTryAgain}>
              Try again
            </button>
          )}
          {mirror.address && (
            <button
              type="button"
              class="button small"
              aria-expanded={isChanging}
              onClick={() => setChanging(!isChanging)}
            >
              New credential
            </button>
          )}
          <button type="button" class="button small" onClick={onSwitch}>
            {mirror.is_active ? "Switch off" : "Switch on"}
          </button>
          <button type="button" class="button small danger" onClick={onDelete}>
            Delete
          </button>
        </div>
      )}
      {isChanging && (
        <form
          class="inline-form mirror-credential"
          aria-label={`New credential of ${mirror.name}`}
          onSubmit={async (event) => {
            event.preventDefault();
            const credential = String(new FormData(event.currentTarget).get("credential"));
            if (await onCredential(credential)) setChanging(false);
          }}
        >
          <label class="field">
            <span>Credential</span>
            <input name="credential" type="password" autocomplete="off" autoFocus />
          </label>
          <button type="submit" class="button">
            Store
          </button>
        </form>
      )}
    </article>
  );
}

function runs(count: number): string {
  return count === 1 ? "1 run" : `${count} runs`;
}
