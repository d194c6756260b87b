/** Previews: prompts of the user's own, drawn by the base model and by a saved version from the same seeds. */

import type { TargetedSubmitEvent } from "preact";
import { useEffect, useState } from "preact/hooks";
import { messageOf } from "../../api/client.ts";
import { api } from "../../api/endpoints.ts";
import type { Preview, PreviewImage, Run } from "../../api/schema.ts";
import { words } from "../../base/format.ts";
import { useResource } from "../../ui/resource.ts";
import { Empty, Failed } from "../../ui/states.tsx";
import { mayEdit } from "../run/context.ts";
import { Media, playsWhilePointedAt } from "../run/media.tsx";
import type { SavedVersion } from "./saved_versions.ts";

const POLL_MILLISECONDS = 1500;
const MAX_PROMPTS = 8;
const isEnded = (preview: Preview) => preview.state !== "queued" && preview.state !== "running";

interface Props {
  readonly run: Run;
  readonly versions: readonly SavedVersion[];
  /** Id of the weights to draw with; null: the newest. */
  readonly chosen: number | null;
  readonly choose: (adapterId: number) => void;
}

export function Previews({ run, versions, chosen, choose }: Props) {
  const drawable = versions.flatMap(({ adapter }) => adapter ?? []);
  const previews = useResource(() => api.previews(run.id), [run.id]);
  const [error, setError] = useState<string | null>(null);
  const waiting = (previews.value ?? []).some((preview) => !isEnded(preview));
  useEffect(() => {
    if (!waiting) return undefined;
    const timer = setInterval(previews.reload, POLL_MILLISECONDS);
    return () => clearInterval(timer);
  }, [waiting, previews.reload]);
  const [newest] = drawable;
  if (newest === undefined) return null;

  const submit = async (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const prompts = String(form.get("prompts"))
      .split("\n")
      .map((line) => line.trim())
      .filter(Boolean);
    if (prompts.length === 0 || prompts.length > MAX_PROMPTS) {
      setError(`Write 1 to ${MAX_PROMPTS} prompts, one a line; got ${prompts.length}.`);
      return;
    }
    try {
      setError(null);
      await api.createPreview(run.id, {
        prompts,
        num_samples: Number(form.get("num_samples")),
        seed: Number(form.get("seed")),
        adapter: chosen ?? newest.id,
      });
      previews.reload();
    } catch (failure) {
      setError(messageOf(failure));
    }
  };
  const cancel = async (preview: Preview) => {
    try {
      setError(null);
      await api.cancelOperation(preview.operation);
    } catch (failure) {
      setError(messageOf(failure));
    }
    previews.reload();
  };
  return (
    <section class="card" aria-label="Previews">
      <div class="card-head">
        <h2>Preview your own prompts</h2>
        <span class="tiny faint">base model beside {trained(run)}, same seeds</span>
      </div>
      {mayEdit(run) && (
        <form class="preview-form" onSubmit={(event) => void submit(event)}>
          <label class="field">
            <span>Prompts, one a line</span>
            <textarea name="prompts" rows={3} required />
          </label>
          <label class="field">
            <span>Version</span>
            <select value={chosen ?? newest.id} onChange={(event) => choose(Number(event.currentTarget.value))}>
              {drawable.map((adapter) => (
                <option key={adapter.id} value={adapter.id}>
                  v{adapter.policy_version}, batch {adapter.batch}
                  {adapter.final ? ", final" : ""}
                </option>
              ))}
            </select>
          </label>
          <label class="field">
            <span>Samples each</span>
            <input type="number" name="num_samples" min="1" max="8" defaultValue="4" required />
          </label>
          <label class="field">
            <span>Seed</span>
            <input type="number" name="seed" min="0" defaultValue="0" required />
          </label>
          <button type="submit" class="button primary" disabled={waiting}>
            {waiting ? "Drawing…" : "Draw"}
          </button>
        </form>
      )}
      {error !== null && <Failed message={error} />}
      {previews.error !== null && <Failed message={previews.error} onRetry={previews.reload} />}
      {previews.value?.length === 0 && !mayEdit(run) && <Empty title="No preview yet" />}
      {(previews.value ?? []).map((preview) => (
        <Result
          key={preview.id}
          preview={preview}
          trained={trained(run)}
          onCancel={mayEdit(run) ? () => void cancel(preview) : null}
        />
      ))}
    </section>
  );
}

const trained = (run: Run) => (run.spec.tuning === "full" ? "trained weights" : "LoRA");

interface ResultProps {
  readonly preview: Preview;
  readonly trained: string;
  /** Null for who may not. */
  readonly onCancel: (() => void) | null;
}

function Result({ preview, trained, onCancel }: ResultProps) {
  if (preview.state === "failed") return <Failed message={preview.error} />;
  if (preview.state === "cancelled") return <p class="small muted">Cancelled: {preview.prompts.join("; ")}</p>;
  if (!isEnded(preview)) {
    const wait = preview.waiting === "" ? "" : `: ${preview.waiting}`;
    return (
      <div class="row">
        <p class="small muted" role="status">
          Drawing {preview.prompts.length} prompts{wait}…
        </p>
        {onCancel !== null && (
          <button type="button" class="button small" onClick={onCancel}>
            Cancel
          </button>
        )}
      </div>
    );
  }
  const of = (images: readonly PreviewImage[], prompt: string) => images.filter((image) => image.prompt === prompt);
  return (
    <div class="preview-result">
      {preview.prompts.map((prompt) => (
        <div key={prompt} class="preview-row">
          <span class="pair-prompt">{prompt}</span>
          <Side label="Base" images={of(preview.base_samples, prompt)} />
          <span class="arrow" aria-hidden="true">
            →
          </span>
          <Side label={`${words(trained)} v${preview.policy_version}`} images={of(preview.samples, prompt)} />
        </div>
      ))}
    </div>
  );
}

function Side({ label, images }: { label: string; images: readonly PreviewImage[] }) {
  return (
    <figure class="stack-s">
      <figcaption class="tiny faint">{label}</figcaption>
      <div class="tiles">
        {images.map((image) => (
          <span
            key={image.seed}
            class="tile plain"
            tabIndex={image.clip_url === null ? undefined : 0}
            {...playsWhilePointedAt}
          >
            <Media sample={image} alt={`${label}: ${image.prompt}, seed ${image.seed}`} />
          </span>
        ))}
      </div>
    </figure>
  );
}
