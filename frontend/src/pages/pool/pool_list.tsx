/** The pool on a narrow screen: a list in place of the map, with a box to choose each row. */

import type { PoolNode } from "../../api/schema.ts";
import { percent } from "../../base/format.ts";
import { cpuLanes, gpuKey, type Key, laneKey, laneOf, nodeKey, shadeOf, shortModel } from "./cells.ts";
import { nodeStateText, stateText } from "./pool_words.ts";
import type { Selection } from "./selection.ts";

interface Props {
  readonly nodes: readonly PoolNode[];
  readonly selection: Selection;
  readonly onSelect: (selection: Selection) => void;
}

export function PoolList({ nodes, selection, onSelect }: Props) {
  const toggle = (key: Key) => {
    const next = new Set(selection);
    if (!next.delete(key)) next.add(key);
    onSelect(next);
  };
  // A pool of a few nodes opens at once; in a large one each is opened where it is looked for.
  const opens = nodes.length <= 4;
  return (
    <div class="pool-list">
      {nodes.map((node) => (
        <details key={node.id} class="card flush" open={opens}>
          <summary>
            <b>{node.name}</b>
            <span class={`pill pool-${node.state}`}>{nodeStateText(node)}</span>
            <span class="small muted num">
              {node.num_held} of {node.num_lanes} held
            </span>
          </summary>
          <Row of={nodeKey(node)} name="The whole node" {...{ selection, toggle }}>
            <span class="small muted">{node.reason || "–"}</span>
          </Row>
          {node.gpus.map((gpu) => (
            <Row key={gpu.id} of={gpuKey(gpu)} name={`GPU ${gpu.index}`} {...{ selection, toggle }}>
              <i class={`cell gpu ${shadeOf(gpu, "state")}`} aria-hidden="true" />
              <span>{stateText(gpu.state)}</span>
              <span class="small muted truncate">
                {shortModel(gpu.accelerator)} {laneOf(node, gpu)?.role}
              </span>
              <span class="num">{percent(gpu.live?.utilisation)}</span>
            </Row>
          ))}
          {cpuLanes(node).map((lane) => (
            <Row
              key={lane.id}
              of={laneKey(lane)}
              name={lane.label.replace(`${node.name}/`, "")}
              {...{ selection, toggle }}
            >
              <span>{stateText(lane.state)}</span>
              <span class="small muted">{lane.role}</span>
            </Row>
          ))}
        </details>
      ))}
    </div>
  );
}

function Row(props: {
  of: Key;
  name: string;
  selection: Selection;
  toggle: (key: Key) => void;
  children: preact.ComponentChildren;
}) {
  return (
    <label class="pool-row">
      <input type="checkbox" checked={props.selection.has(props.of)} onChange={() => props.toggle(props.of)} />
      <b>{props.name}</b>
      {props.children}
    </label>
  );
}
