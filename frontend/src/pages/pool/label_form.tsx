/** What a pool admin writes as the labels of a node or a GPU, with the lanes that this would move shown first. */

import type { TargetedSubmitEvent } from "preact";
import { useState } from "preact/hooks";
import { api } from "../../api/endpoints.ts";
import type { LaneMove, PoolGpu, PoolNode } from "../../api/schema.ts";
import { attempt } from "../../ui/toasts.tsx";
import { labelsOf, labelsText, movesTexts } from "./labels.ts";

interface Props {
  readonly node: PoolNode;
  /** The GPU, where the labels are not those of the whole node. */
  readonly gpu?: PoolGpu | undefined;
  readonly onDone: (nodes: readonly PoolNode[]) => void;
}

export function LabelForm({ node, gpu, onDone }: Props) {
  const saved = labelsText((gpu ?? node).labels);
  const [text, setText] = useState(saved);
  const [moves, setMoves] = useState<readonly LaneMove[] | null>(null);
  const [isBusy, setBusy] = useState(false);
  const labels = labelsOf(text);
  const during = async (action: () => Promise<void>, done?: string) => {
    setBusy(true);
    await attempt(action, done);
    setBusy(false);
  };
  const show = async () => {
    const id = gpu?.id ?? node.id;
    setMoves(await api.previewPools(gpu ? { gpus: [{ id, labels }] } : { nodes: [{ id, labels }] }));
  };
  const save = async () => {
    await (gpu ? api.annotateGpu(gpu.id, { labels }) : api.annotateNode(node.id, { labels }));
    setMoves(null);
    onDone(await api.nodes([node.id]));
  };
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    void (moves === null ? during(show) : during(save, "Labels saved."));
  };
  return (
    <details class="label-form">
      <summary class="small">Labels and pool</summary>
      <form class="stack-s" onSubmit={submit}>
        <label class="small muted">
          Labels, one <span class="mono">name: value</span> a line; pools match lanes by them
          <textarea
            class="mono"
            rows={3}
            spellcheck={false}
            value={text}
            onInput={(event) => {
              setText(event.currentTarget.value);
              setMoves(null);
            }}
          />
        </label>
        {moves !== null && <Moves moves={moves} />}
        <button type="submit" class="button" disabled={isBusy || labelsText(labels) === saved}>
          {moves === null ? "Show what moves" : "Save labels"}
        </button>
      </form>
    </details>
  );
}

export function Moves({ moves }: { moves: readonly LaneMove[] }) {
  if (moves.length === 0) return <p class="small muted">No lane changes its pool.</p>;
  return (
    <ul class="small" aria-label="What moves">
      {movesTexts(moves).map((text) => (
        <li key={text}>{text}</li>
      ))}
    </ul>
  );
}
