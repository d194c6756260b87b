/** A pool as a pool admin makes or changes it, with the lanes that this would move shown before it is saved. */

import type { TargetedSubmitEvent } from "preact";
import { useState } from "preact/hooks";
import { ApiError } from "../../api/client.ts";
import { api } from "../../api/endpoints.ts";
import type { LaneMove, NewPool, Pool } from "../../api/schema.ts";
import { FieldErrors } from "../../ui/field_errors.tsx";
import { attempt } from "../../ui/toasts.tsx";
import { Moves } from "./label_form.tsx";
import { labelsOf, labelsText } from "./labels.ts";

/** As the server defaults it: before the pool of what is left, with room on both sides. */
const FIRST_ORDER = 100;

interface Written {
  readonly name: string;
  readonly labels: string;
  readonly order: string;
  readonly description: string;
}

/** The text fields as the server takes them. */
export function poolOf({ name, labels, order, description }: Written): NewPool {
  return { name: name.trim(), match_labels: labelsOf(labels), order: Number(order), description: description.trim() };
}

interface Props {
  /** The pool to change; without it a new one is made. */
  readonly pool?: Pool | undefined;
  /** The default pool has what no other matches: only its description can be changed. */
  readonly isDefault: boolean;
  readonly onDone: () => void;
  readonly onCancel: () => void;
}

export function PoolForm({ pool, isDefault, onDone, onCancel }: Props) {
  const [written, setWritten] = useState<Written>({
    name: pool?.name ?? "",
    labels: labelsText(pool?.match_labels ?? {}),
    order: String(pool?.order ?? FIRST_ORDER),
    description: pool?.description ?? "",
  });
  const [moves, setMoves] = useState<readonly LaneMove[] | null>(null);
  const [errors, setErrors] = useState<ApiError["fieldErrors"]>({});
  const [isBusy, setBusy] = useState(false);
  const needsPreview = !isDefault && moves === null;
  const write = (changed: Partial<Written>) => {
    setWritten({ ...written, ...changed });
    setMoves(null);
  };
  const kept = async (action: () => Promise<unknown>) => {
    setErrors({});
    try {
      await action();
    } catch (error) {
      if (error instanceof ApiError) setErrors(error.fieldErrors);
      throw error;
    }
  };
  const show = () => kept(async () => setMoves(await api.previewPools({ pool: poolOf(written) })));
  const save = () => {
    const { name, ...changes } = poolOf(written);
    if (!pool) return kept(() => api.createPool({ name, ...changes }));
    return kept(() => api.changePool(name, isDefault ? { description: changes.description ?? "" } : changes));
  };
  const submit = async (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    setBusy(true);
    if (needsPreview) await attempt(show);
    else if (await attempt(save, `Pool ${written.name.trim()} saved.`)) onDone();
    setBusy(false);
  };
  return (
    <form
      class="pool-form stack-s"
      aria-label={pool ? `Pool ${pool.name}` : "New pool"}
      onSubmit={(event) => void submit(event)}
    >
      {!pool && (
        <label class="small muted">
          Name, which cannot be changed: small letters, digits and -
          <input
            class="input"
            required
            value={written.name}
            onInput={(event) => write({ name: event.currentTarget.value })}
          />
          <FieldErrors of={errors.name} />
        </label>
      )}
      {!isDefault && (
        <>
          <label class="small muted">
            Labels that a lane must have, one <span class="mono">name: value</span> a line
            <textarea
              class="mono"
              rows={3}
              required
              spellcheck={false}
              value={written.labels}
              onInput={(event) => write({ labels: event.currentTarget.value })}
            />
            <FieldErrors of={errors.match_labels} />
          </label>
          <label class="small muted">
            Order: of several pools that match a lane, the one with the lowest has it
            <input
              class="input"
              type="number"
              required
              min="0"
              value={written.order}
              onInput={(event) => write({ order: event.currentTarget.value })}
            />
            <FieldErrors of={errors.order} />
          </label>
        </>
      )}
      <label class="small muted">
        Description
        <input
          class="input"
          value={written.description}
          onInput={(event) => setWritten({ ...written, description: event.currentTarget.value })}
        />
        <FieldErrors of={errors.description} />
      </label>
      {moves !== null && <Moves moves={moves} />}
      <div class="row">
        <button type="submit" class="button primary" disabled={isBusy}>
          {needsPreview ? "Show what moves" : "Save the pool"}
        </button>
        <button type="button" class="button" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </form>
  );
}
