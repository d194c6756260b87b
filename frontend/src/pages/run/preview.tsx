/** Own prompts on what was trained: base model and newest version side by side from the same seeds. */

import { useEffect, useState } from "preact/hooks";
import { messageOf } from "../../api/client.ts";
import { api } from "../../api/endpoints.ts";
import type { Run, Try, TryImage } from "../../api/types.ts";
import { words } from "../../base/format.ts";
import { getPath } from "../../base/paths.ts";
import { useResource } from "../../ui/resource.ts";
import { Empty, Failed } from "../../ui/states.tsx";
import { mayEdit, type RunProps } from "./context.ts";
import { Media, playsWhilePointedAt } from "./media.tsx";

const POLL_MILLISECONDS = 1500;
const MAX_PROMPTS = 8;
const isEnded = (one: Try) => one.state === "done" || one.state === "failed";

export function TryPrompts({ store, run }: RunProps) {
  const adapters = useResource(() => api.adapters(run.id), [run.id, store.filesVersion.value]);
  const tries = useResource(() => api.tries(run.id), [run.id]);
  const [error, setError] = useState<string | null>(null);
  const waiting = (tries.value ?? []).some((one) => !isEnded(one));
  useEffect(() => {
    if (!waiting) return undefined;
    const timer = setInterval(tries.reload, POLL_MILLISECONDS);
    return () => clearInterval(timer);
  }, [waiting, tries.reload]);
  if (!adapters.value || adapters.value.length === 0) return null;

  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
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
      await api.tryPrompts(run.id, {
        prompts,
        num_samples: Number(form.get("num_samples")),
        seed: Number(form.get("seed")),
      });
      tries.reload();
    } catch (failure) {
      setError(messageOf(failure));
    }
  };
  return (
    <section class="card" aria-label="Try your own prompts">
      <div class="card-head">
        <h2>Try your own prompts</h2>
        <span class="tiny faint">base model and {trained(run)}, same seeds</span>
      </div>
      {mayEdit(run) && (
        <form class="try-form" onSubmit={(event) => void submit(event)}>
          <label class="field">
            <span>Prompts, one a line</span>
            <textarea name="prompts" rows={3} required />
          </label>
          <label class="field">
            <span>Samples each</span>
            <input type="number" name="num_samples" min="1" max="8" defaultValue="4" required />
          </label>
          <label class="field">
            <span>Seed</span>
            <input type="number" name="seed" min="0" defaultValue="0" required />
          </label>
          <button class="button primary" disabled={waiting}>
            {waiting ? "Drawing…" : "Draw"}
          </button>
        </form>
      )}
      {error !== null && <Failed message={error} />}
      {tries.error !== null && <Failed message={tries.error} onRetry={tries.reload} />}
      {tries.value?.length === 0 && !mayEdit(run) && <Empty title="Nobody has tried a prompt yet" />}
      {(tries.value ?? []).map((one) => (
        <TryResult key={one.id} one={one} trained={trained(run)} />
      ))}
    </section>
  );
}

const trained = (run: Run) => (getPath(run.spec, "tuning") === "full" ? "trained weights" : "LoRA");

function TryResult({ one, trained }: { one: Try; trained: string }) {
  if (one.state === "failed") return <Failed message={one.error} />;
  if (!isEnded(one)) {
    const wait = one.waiting === "" ? "" : `: ${one.waiting}`;
    return (
      <p class="small muted" role="status">
        Drawing {one.prompts.length} prompts{wait}…
      </p>
    );
  }
  const of = (images: readonly TryImage[], prompt: string) => images.filter((image) => image.prompt === prompt);
  return (
    <div class="try-result">
      {one.prompts.map((prompt) => (
        <div key={prompt} class="try-row">
          <span class="pair-prompt">{prompt}</span>
          <Side label="Base" images={of(one.base_samples, prompt)} />
          <span class="arrow" aria-hidden="true">
            →
          </span>
          <Side label={words(trained)} images={of(one.samples, prompt)} />
        </div>
      ))}
    </div>
  );
}

function Side({ label, images }: { label: string; images: readonly TryImage[] }) {
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
