/** The pool in one screen: a box for each node, a cell for each GPU and each CPU lane. The keyboard walks the cells as
 * it does in a listbox: arrows move, Space adds, Shift+arrow stretches, Ctrl+A takes all, Escape none. */

import { useEffect, useMemo, useRef } from "preact/hooks";
import type { PoolGpu, PoolNode } from "../../api/schema.ts";
import {
  byModel,
  type Colouring,
  cpuLanes,
  type Density,
  densityOf,
  gpuKey,
  type Key,
  laneKey,
  laneShade,
  memoryShare,
  nodeKey,
  shadeOf,
  shortModel,
} from "./cells.ts";
import { gpuPage } from "./gpu_details.tsx";
import { gpuLabel, laneLabel, nodeLabel, nodeStateText } from "./pool_words.ts";
import { afterClick, keysOf, NOTHING, type Selection } from "./selection.ts";

interface Props {
  readonly nodes: readonly PoolNode[];
  readonly colouring: Colouring;
  readonly selection: Selection;
  /** Keys of GPUs that the selected one reaches over NVLink. */
  readonly peers: Selection;
  readonly onSelect: (selection: Selection) => void;
}

export function PoolMap({ nodes, colouring, selection, peers, onSelect }: Props) {
  const element = useRef<HTMLDivElement>(null);
  const anchor = useRef<Key | null>(null);
  const density = densityOf(nodes);
  const order = () => nodes.flatMap(keysOf);
  useEffect(() => giveOneTheTabStop(element.current));

  const choose = (key: Key, event: { shiftKey: boolean; ctrlKey: boolean; metaKey: boolean }, toggles = false) => {
    const modifiers = { toggles: toggles || event.ctrlKey || event.metaKey, extends: event.shiftKey };
    onSelect(afterClick(selection, key, modifiers, anchor.current, order()));
    if (!event.shiftKey) anchor.current = key;
  };
  const click = (event: MouseEvent) => {
    const key = keyAt(event.target);
    if (key !== null) choose(key, event);
  };
  const press = (event: KeyboardEvent) => {
    const key = keyAt(event.target);
    const map = element.current;
    if (key === null || map === null) return;
    const direction = DIRECTIONS[event.key];
    if (direction !== undefined) {
      const next = nearest(map, event.target as HTMLElement, direction);
      next?.focus();
      if (next && event.shiftKey)
        onSelect(new Set([...selection, key, ...[keyAt(next)].filter((one) => one !== null)]));
    } else if (event.key === " ") choose(key, event, true);
    else if (event.key === "Enter") choose(key, event);
    else if (event.key === "a" && (event.ctrlKey || event.metaKey)) {
      onSelect(new Set(order().filter((one) => !one.startsWith("node:"))));
    } else if (event.key === "Escape") onSelect(NOTHING);
    else return;
    event.preventDefault();
  };
  return (
    <div
      ref={element}
      class={`pool-map ${density}`}
      role="listbox"
      aria-multiselectable="true"
      aria-label="Nodes with their GPUs and CPU lanes"
      onClick={click}
      onDblClick={(event) => openPage(keyAt(event.target))}
      onKeyDown={press}
      onPointerOver={nameTheHovered}
      onFocusIn={(event: FocusEvent) => moveTabStop(element.current, event.target)}
    >
      {nodes.map((node) => (
        <NodeBox key={node.id} {...{ node, colouring, selection, peers, density }} />
      ))}
    </div>
  );
}

interface BoxProps extends Pick<Props, "colouring" | "selection" | "peers"> {
  readonly node: PoolNode;
  readonly density: Density;
}

/** Drawn anew only where its node, or what is marked in it, has changed: a frame changes some, a click two. */
function NodeBox({ node, colouring, selection, peers, density }: BoxProps) {
  const mark = (key: Key) => (selection.has(key) ? "s" : peers.has(key) ? "p" : "-");
  const marks = selection.size === 0 ? "" : keysOf(node).map(mark).join("");
  return useMemo(() => <Box {...{ node, colouring, selection, peers, density }} />, [node, colouring, density, marks]);
}

function Box({ node, colouring, selection, peers, density }: BoxProps) {
  const groups = byModel(node);
  const lanes = cpuLanes(node);
  const isMixed = groups.length > 1;
  const cell = (key: Key, label: string, shade: string, text: string, kind: string) => (
    <Cell
      key={key}
      isSelected={selection.has(key)}
      isPeer={peers.has(key)}
      {...{ label, shade, text, kind }}
      of={key}
    />
  );
  return (
    <div class={`node-box ${node.state}`} role="group" aria-label={`Node ${node.name}`}>
      <div
        class="node-name"
        role="option"
        tabIndex={-1}
        aria-selected={selection.has(nodeKey(node))}
        aria-label={nodeLabel(node)}
        data-key={nodeKey(node)}
      >
        <b class="truncate">{node.name}</b>
        {/* Drawn by the style sheet: a reader hears the same numbers as words, in the label. */}
        <span
          class="num"
          data-text={node.state === "available" ? `${node.num_held}/${node.num_lanes}` : nodeStateText(node)}
        />
      </div>
      {groups.length > 0 && (
        <div class="gpu-groups">
          {groups.map(({ model, gpus }) => (
            <div key={model} class="gpu-group">
              <span class={`gpu-model truncate ${isMixed ? "mixed" : ""}`}>{shortModel(model) || "unknown model"}</span>
              <div class="cells">
                {gpus.map((gpu) =>
                  cell(
                    gpuKey(gpu),
                    gpuLabel(node, gpu, colouring),
                    shadeOf(gpu, colouring),
                    textIn(gpu, colouring, density),
                    "gpu",
                  ),
                )}
              </div>
            </div>
          ))}
        </div>
      )}
      {lanes.length > 0 && (
        <div class="cells of-cpu">
          {lanes.map((lane) => cell(laneKey(lane), laneLabel(lane), laneShade(lane, colouring), "", "cpu"))}
        </div>
      )}
    </div>
  );
}

function Cell(props: {
  of: Key;
  kind: string;
  label: string;
  shade: string;
  text: string;
  isSelected: boolean;
  isPeer: boolean;
}) {
  return (
    <span
      class={`cell ${props.kind} ${props.shade}${props.isPeer ? " peer" : ""}`}
      role="option"
      tabIndex={-1}
      aria-selected={props.isSelected}
      aria-label={props.label}
      data-key={props.of}
    >
      {props.text}
    </span>
  );
}

/** What stands in a cell that is large enough: the value that colours it, else the GPU's index. */
function textIn(gpu: PoolGpu, colouring: Colouring, density: Density): string {
  if (density === "dense") return "";
  const share = colouring === "memory" ? memoryShare(gpu) : (gpu.live?.utilisation ?? null);
  return colouring === "state" || share === null ? String(gpu.index) : String(Math.round(share * 100));
}

/** A tooltip for the cell under the pointer only, since titles of all cells would be written with every report. */
function nameTheHovered({ target }: PointerEvent): void {
  if (target instanceof HTMLElement && target.dataset.key) target.title = target.ariaLabel ?? "";
}

function keyAt(target: EventTarget | null): Key | null {
  const cell = target instanceof Element ? target.closest<HTMLElement>("[data-key]") : null;
  return (cell?.dataset.key as Key | undefined) ?? null;
}

/** A GPU has a page of its own; the inspector links to it, too. */
function openPage(key: Key | null): void {
  const [kind, id] = key?.split(":") ?? [];
  if (kind === "gpu") location.assign(gpuPage(Number(id)));
}

const options = (map: HTMLElement) => [...map.querySelectorAll<HTMLElement>("[role=option]")];

/** One option of a listbox takes the focus of Tab: the one that had it last, by default the first. */
function giveOneTheTabStop(map: HTMLElement | null): void {
  if (map !== null && map.querySelector('[role=option][tabindex="0"]') === null)
    moveTabStop(map, options(map)[0] ?? null);
}

function moveTabStop(map: HTMLElement | null, target: EventTarget | null): void {
  if (map === null || !(target instanceof HTMLElement) || target.getAttribute("role") !== "option") return;
  for (const old of map.querySelectorAll('[role=option][tabindex="0"]')) old.setAttribute("tabindex", "-1");
  target.setAttribute("tabindex", "0");
}

type Direction = readonly [number, number];
const DIRECTIONS: Readonly<Record<string, Direction>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};
/** Being off the line that the arrow points along counts so much more than being far. */
const SIDEWAYS_WEIGHT = 4;

/** The option that an arrow leads to: the nearest one in that direction. */
function nearest(map: HTMLElement, from: HTMLElement, [right, down]: Direction): HTMLElement | null {
  const centre = (element: HTMLElement) => {
    const { left, top, width, height } = element.getBoundingClientRect();
    return [left + width / 2, top + height / 2] as const;
  };
  const [x, y] = centre(from);
  let best: { readonly element: HTMLElement; readonly distance: number } | null = null;
  for (const element of options(map)) {
    const [dx, dy] = [centre(element)[0] - x, centre(element)[1] - y];
    const ahead = dx * right + dy * down;
    if (element === from || ahead < 1) continue;
    const distance = ahead + SIDEWAYS_WEIGHT * Math.abs(right === 0 ? dx : dy);
    if (best === null || distance < best.distance) best = { element, distance };
  }
  return best?.element ?? null;
}
