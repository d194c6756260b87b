/** What a pool admin writes as the price and the notes of a node or a GPU. */

import type { TargetedSubmitEvent } from "preact";
import { useState } from "preact/hooks";
import { api } from "../../api/endpoints.ts";
import type { PoolGpu, PoolNode } from "../../api/schema.ts";
import { attempt } from "../../ui/toasts.tsx";

interface Props {
  readonly node: PoolNode;
  /** The GPU, where the price is not that of the whole node. */
  readonly gpu?: PoolGpu | undefined;
  readonly onDone: (nodes: readonly PoolNode[]) => void;
}

/** An empty price takes it away: a GPU then costs what its node says. Null for text that is no price. */
export function priceIn(text: string): string | null | undefined {
  const written = text.trim().replace(",", ".");
  if (written === "") return null;
  return /^\d{1,6}(\.\d{1,4})?$/.test(written) ? written : undefined;
}

export function PriceForm({ node, gpu, onDone }: Props) {
  const of = gpu ?? node;
  const saved = of.price_per_gpu_hour ?? "";
  const [text, setText] = useState(saved);
  const [notes, setNotes] = useState(of.notes);
  const [isBusy, setBusy] = useState(false);
  const price = priceIn(text);
  const isChanged = price !== priceIn(saved) || notes !== of.notes;
  const submit = async (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (price === undefined) return;
    setBusy(true);
    await attempt(async () => {
      const body = { price_per_gpu_hour: price, notes };
      await (gpu ? api.annotateGpu(gpu.id, body) : api.annotateNode(node.id, body));
      onDone(await api.nodes([node.id]));
    }, "Price and notes saved.");
    setBusy(false);
  };
  const inherited = gpu ? (node.price_per_gpu_hour ?? null) : null;
  return (
    <details class="label-form">
      <summary class="small">Price and notes</summary>
      <form class="stack-s" onSubmit={(event) => void submit(event)}>
        <label class="small muted">
          Price a GPU hour, in the currency of your other prices; uses that have begun keep theirs
          <input
            class="input"
            inputMode="decimal"
            value={text}
            placeholder={inherited === null ? "none" : `${Number(inherited)}, as its node says`}
            aria-invalid={price === undefined}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        {price === undefined && (
          <p class="small down" role="alert">
            The price must be a number below a million with four decimals at most, got “{text}”.
          </p>
        )}
        <label class="small muted">
          Notes
          <textarea rows={2} value={notes} onInput={(event) => setNotes(event.currentTarget.value)} />
        </label>
        <button type="submit" class="button" disabled={isBusy || !isChanged || price === undefined}>
          Save price and notes
        </button>
      </form>
    </details>
  );
}
