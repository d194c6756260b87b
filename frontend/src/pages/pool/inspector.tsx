/** Beside the map: what is known of the selection, and what a pool admin can do with it. */

import type { PoolNode, PoolState } from "../../api/schema.ts";
import { Term } from "../../ui/term.tsx";
import { ActionForm } from "./action_form.tsx";
import { LaneDetails, NodeDetails } from "./details.tsx";
import { GpuDetails } from "./gpu_details.tsx";
import { LabelForm } from "./label_form.tsx";
import { stateText } from "./pool_words.ts";
import { PriceForm } from "./price_form.tsx";
import { RemoveNode } from "./remove_node.tsx";
import { countText, NOTHING, numSelected, type Selected, type Selection, selectedRows } from "./selection.ts";

interface Props {
  readonly nodes: readonly PoolNode[];
  readonly selection: Selection;
  readonly mayAct: boolean;
  readonly onSelect: (selection: Selection) => void;
  readonly onActed: (nodes: readonly PoolNode[]) => void;
  /** A node has gone from the pool. */
  readonly onRemoved: () => void;
}

export function Inspector({ nodes, selection, mayAct, onSelect, onActed, onRemoved }: Props) {
  const selected = selectedRows(selection, nodes);
  const isEmpty = numSelected(selected) === 0;
  return (
    <aside class={`card inspector ${isEmpty ? "nothing" : ""}`} aria-label="What is selected">
      {isEmpty ? (
        <Hint />
      ) : (
        <>
          <div class="row-between">
            <h2>{titleOf(selected)}</h2>
            <button
              type="button"
              class="button quiet small"
              aria-label="Select nothing"
              onClick={() => onSelect(NOTHING)}
            >
              ✕
            </button>
          </div>
          {mayAct && <ActionForm selected={selected} onDone={onActed} />}
          {mayAct && <WrittenOf selected={selected} onDone={onActed} onRemoved={onRemoved} />}
          <Details selected={selected} onSelect={onSelect} />
        </>
      )}
    </aside>
  );
}

interface WrittenProps {
  readonly selected: Selected;
  readonly onDone: Props["onActed"];
  readonly onRemoved: () => void;
}

/** Labels, prices and notes are written for one node or GPU at a time, and one node at a time is removed. */
function WrittenOf({ selected, onDone, onRemoved }: WrittenProps) {
  const [node, gpu] = [selected.nodes[0], selected.gpus[0]];
  const of = node ? { node } : gpu;
  if (numSelected(selected) > 1 || !of) return null;
  const key = node ? `node:${node.id}` : `gpu:${gpu?.gpu.id}`;
  return (
    <div key={key} class="stack-s">
      <LabelForm {...of} onDone={onDone} />
      <PriceForm {...of} onDone={onDone} />
      {node && <RemoveNode node={node} onRemoved={onRemoved} />}
    </div>
  );
}

function Hint() {
  return (
    <>
      <h2>Nothing selected</h2>
      <p class="small muted">
        Click a GPU, a CPU <Term word="lane">lane</Term> or the name of a node. <kbd>Shift</kbd> selects a stretch,{" "}
        <kbd>Ctrl</kbd> or <kbd>Space</kbd> adds one, arrow keys move.
      </p>
    </>
  );
}

function titleOf(selected: Selected): string {
  const [node, gpu, lane] = [selected.nodes[0], selected.gpus[0], selected.lanes[0]];
  if (numSelected(selected) > 1) return countText(selected);
  return node?.name ?? (gpu ? `GPU ${gpu.gpu.index} of ${gpu.node.name}` : `Lane ${lane?.lane.label}`);
}

function Details({ selected, onSelect }: { selected: Selected; onSelect: (selection: Selection) => void }) {
  if (numSelected(selected) > 1) return <ManyDetails selected={selected} />;
  const [node, gpu, lane] = [selected.nodes[0], selected.gpus[0], selected.lanes[0]];
  if (node) return <NodeDetails key={node.id} node={node} />;
  if (gpu) return <GpuDetails key={gpu.gpu.id} {...gpu} onSelect={onSelect} />;
  return lane ? <LaneDetails key={lane.lane.id} {...lane} /> : null;
}

/** The most rows that are listed one by one. */
const MOST_LISTED = 40;

export function ManyDetails({ selected }: { selected: Selected }) {
  const rows = [
    ...selected.nodes.map((node) => ({ name: node.name, state: node.state, reason: node.reason })),
    ...selected.gpus.map(({ node, gpu }) => ({
      name: `${node.name}, GPU ${gpu.index}`,
      state: gpu.state,
      reason: gpu.reason,
    })),
    ...selected.lanes.map(({ lane }) => ({ name: lane.label, state: lane.state, reason: lane.reason })),
  ];
  const counts = new Map<PoolState, number>();
  for (const { state } of rows) counts.set(state, (counts.get(state) ?? 0) + 1);
  return (
    <>
      <p class="small">{[...counts].map(([state, count]) => `${count} ${stateText(state)}`).join(", ")}</p>
      <ul class="selected-rows small">
        {rows.slice(0, MOST_LISTED).map(({ name, state, reason }) => (
          <li key={name}>
            <span>{name}</span>
            <span class="muted">{reason ? `${stateText(state)}: ${reason}` : stateText(state)}</span>
          </li>
        ))}
      </ul>
      {rows.length > MOST_LISTED && <p class="small muted">and {rows.length - MOST_LISTED} more</p>}
    </>
  );
}
