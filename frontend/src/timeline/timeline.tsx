/** The lanes of one run on a time axis: the wheel zooms, drag pans, keys do both, hovering shows what a span was.
 *
 * `TimelineState` holds everything; this passes on what pointer and keys do, and paints at most once per frame, outside
 * Preact.
 */

import { useEffect, useMemo, useRef } from "preact/hooks";
import type { TimelineSpan } from "../api/schema.ts";
import { words } from "../base/format.ts";
import { oncePerFrame } from "../base/frames.ts";
import { themeVersion } from "../base/palette.ts";
import { Empty, Loading } from "../ui/states.tsx";
import { canvasTheme } from "./canvas_theme.ts";
import { draw } from "./draw.ts";
import { FleetTooltip } from "./fleet_tooltip.tsx";
import { TimelineLegend } from "./legend.tsx";
import type { TimelineState } from "./timeline_state.ts";
import { SpanTooltip } from "./tooltip.tsx";

const ZOOM_STEP = 1.25;
/** A notch of most wheels is 100 units, which zooms by a seventh. */
const ZOOM_PER_WHEEL_UNIT = 0.0015;
const PAN_SHARE = 0.15;
/** Fewer lanes are seen at a glance. */
const FILTER_FROM_LANES = 8;
/** Movements of fewer CSS pixels than this are no drag. */
const DRAG_PIXELS = 2;

interface Props {
  readonly state: TimelineState;
  /** A span was clicked. */
  readonly onPick?: (span: TimelineSpan) => void;
  /** Whether it says what marks mean and what keys do; of several timelines one is enough. */
  readonly hasHelp?: boolean;
  /** Address of the file for Perfetto. */
  readonly trace?: string;
}

export function Timeline({ state, onPick, hasHelp = true, trace }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const pick = useRef(onPick);
  pick.current = onPick;
  const repaint = useMemo(() => oncePerFrame(() => paint(canvas.current, state)), [state]);
  useEffect(() => (canvas.current ? watch(canvas.current, state, repaint, pick) : undefined), [state, repaint]);
  const selection = state.selection.value;
  const fleetPoint = state.fleetPoint.value;
  useEffect(repaint, [
    state.version.value,
    state.window.moves.value,
    state.isLive.value,
    state.filter.value,
    state.openRoles.value,
    state.plan.isOn.value,
    selection,
    themeVersion.value,
  ]);
  const isEmpty = state.lanes.numSpans === 0;

  const onKeyDown = (event: KeyboardEvent) => {
    const act = KEYS[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act(state);
  };

  return (
    <div class="timeline">
      <div class="row-between">
        <TimelineLegend state={state} />
        <Tools state={state} trace={trace} />
      </div>
      {!state.isLoaded.value && <Loading label="Loading the timeline" />}
      {!isEmpty && state.tracks.length + state.fleet.length === 0 && <Empty title="No lane matches the filter" />}
      {state.isLoaded.value && isEmpty && (
        <Empty title="No lane time yet">Spans appear here as soon as the run's lanes report what they do.</Empty>
      )}
      <div class="timeline-box" hidden={isEmpty}>
        <canvas
          ref={canvas}
          tabIndex={0}
          role="img"
          onKeyDown={onKeyDown}
          aria-label={`Timeline of ${state.lanes.tracks.length} lanes. Arrow keys pan, plus and minus zoom, 0 shows everything, F follows.`}
        />
        {selection && <SpanTooltip selection={selection} width={state.layout.width} />}
        {fleetPoint && <FleetTooltip point={fleetPoint} width={state.layout.width} />}
      </div>
      {hasHelp && <Help state={state} isPicked={onPick !== undefined} />}
    </div>
  );
}

function Help({ state, isPicked }: { state: TimelineState; isPicked: boolean }) {
  return (
    <p class="tiny faint">
      Ctrl or ⌘ and the wheel zoom, and the wheel alone once the timeline was clicked; drag pans, double-click shows
      everything.{isPicked && " A click on a fragment's span opens its story."} Vertical ticks: a policy version was
      published; the line at a lane's foot leads to its pull. Arrows: a trainer lane takes rollout work. Dashed lines:
      the run was resized, or went on by a new plan.
      {state.plannedBatches.length > 0 &&
        " Above a lane, fainter: what the plan promised from each version on, cut where the next version came sooner."}
      {state.fleet.length > 0 &&
        " A row of a role shows the share of its lanes in each state; a click on it shows the lanes."}
    </p>
  );
}

function Tools({ state, trace }: { state: TimelineState; trace: string | undefined }) {
  // Lanes are no signals: without this the tools would stay as they were before the first spans.
  void state.version.value;
  return (
    <div class="row">
      {state.fleet.map(({ role, numLanes, isOpen }) => (
        <button
          key={role}
          type="button"
          class="button small"
          aria-expanded={isOpen}
          title={isOpen ? "Show these lanes as one row" : "Show each of these lanes"}
          onClick={() => state.toggle(role)}
        >
          {words(role || "other")} <span class="num muted">{numLanes}</span> {isOpen ? "▾" : "▸"}
        </button>
      ))}
      {state.lanes.tracks.length >= FILTER_FROM_LANES && (
        <input
          type="search"
          class="lane-filter"
          placeholder="Filter lanes"
          aria-label="Filter lanes by name, role, node or device"
          value={state.filter.value}
          onInput={(event) => {
            state.clearSelection();
            state.filter.value = event.currentTarget.value;
          }}
        />
      )}
      {state.isLive.value && (
        <label class="check">
          <input
            type="checkbox"
            checked={state.isFollowing}
            onChange={(event) => state.window.follow(event.currentTarget.checked)}
          />
          Follow live
        </label>
      )}
      {state.plan.isOffered && <PlanToggle state={state} />}
      <button type="button" class="button small" aria-label="Zoom in" onClick={() => state.window.zoom(1 / ZOOM_STEP)}>
        +
      </button>
      <button type="button" class="button small" aria-label="Zoom out" onClick={() => state.window.zoom(ZOOM_STEP)}>
        −
      </button>
      <button type="button" class="button small" onClick={() => state.window.showAll()}>
        Fit all
      </button>
      {trace !== undefined && (
        <a
          class="button small"
          href={trace}
          download
          title="All lane time as a trace, to open at ui.perfetto.dev; nothing is uploaded"
        >
          Perfetto trace
        </a>
      )}
    </div>
  );
}

function PlanToggle({ state: { plan } }: { state: TimelineState }) {
  const { notDrawn } = plan;
  return (
    <label
      class="check plan-toggle"
      title={notDrawn ?? "Above each lane, what the plan in force promised of each batch, from its version on"}
    >
      <input
        type="checkbox"
        checked={plan.isOn.value && notDrawn === null}
        disabled={notDrawn !== null}
        onChange={(event) => {
          plan.isOn.value = event.currentTarget.checked;
        }}
      />
      Plan
    </label>
  );
}

const KEYS: Readonly<Record<string, (state: TimelineState) => void>> = {
  ArrowLeft: (state) => state.window.panByShare(-PAN_SHARE),
  ArrowRight: (state) => state.window.panByShare(PAN_SHARE),
  "+": (state) => state.window.zoom(1 / ZOOM_STEP),
  "=": (state) => state.window.zoom(1 / ZOOM_STEP),
  "-": (state) => state.window.zoom(ZOOM_STEP),
  "0": (state) => state.window.showAll(),
  f: (state) => state.window.follow(true),
};

function paint(canvas: HTMLCanvasElement | null, state: TimelineState): void {
  const view = state.prepare(canvas?.parentElement?.clientWidth ?? 0);
  const context = canvas?.getContext("2d");
  if (!canvas || !context || !view) return;
  const { layout, origin } = state;
  const ratio = devicePixelRatio;
  const [width, height] = [Math.round(layout.width * ratio), Math.round(layout.height * ratio)];
  if (canvas.width !== width || canvas.height !== height) {
    [canvas.width, canvas.height] = [width, height];
    canvas.style.height = `${layout.height}px`;
  }
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  draw({ context, theme: canvasTheme(context), layout, view, origin }, state);
}

/** Pointer and wheel listeners on the canvas; returns their removal. */
function watch(
  canvas: HTMLCanvasElement,
  state: TimelineState,
  repaint: () => void,
  pick: { readonly current: Props["onPick"] },
): () => void {
  const ended = new AbortController();
  const listen = <K extends keyof HTMLElementEventMap>(
    type: K,
    handler: (event: HTMLElementEventMap[K]) => void,
    passive = true,
  ) => canvas.addEventListener(type, handler, { signal: ended.signal, passive });
  let dragX: number | null = null;
  let isDragged = false;

  const onWheel = (event: WheelEvent) => {
    const isMeant = event.ctrlKey || event.metaKey || document.activeElement === canvas;
    if (!isMeant) return;
    event.preventDefault();
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) state.window.panByPixels(event.deltaX);
    else state.window.zoom(Math.exp(event.deltaY * ZOOM_PER_WHEEL_UNIT), event.offsetX);
  };
  listen("wheel", onWheel, false);
  listen("pointerdown", (event) => {
    dragX = event.offsetX;
    isDragged = false;
    canvas.setPointerCapture(event.pointerId);
  });
  listen("pointerup", () => {
    dragX = null;
  });
  listen("pointermove", ({ offsetX, offsetY }) => {
    if (dragX === null) state.point(offsetX, offsetY);
    else if (Math.abs(dragX - offsetX) > DRAG_PIXELS) {
      isDragged = true;
      state.clearSelection();
      state.window.panByPixels(dragX - offsetX);
      dragX = offsetX;
    }
  });
  listen("click", ({ offsetX, offsetY }) => {
    if (isDragged) return;
    const role = state.roleAt(offsetY);
    if (role !== null) return state.toggle(role);
    state.point(offsetX, offsetY);
    const selection = state.selection.peek();
    if (!selection || !pick.current) return;
    // The story tells more, and where it opens beside the canvas the span moves away from the pointer.
    state.clearSelection();
    pick.current(selection.span);
  });
  listen("pointerleave", () => state.clearSelection());
  listen("dblclick", () => state.window.showAll());
  const observer = new ResizeObserver(repaint);
  if (canvas.parentElement) observer.observe(canvas.parentElement);
  return () => {
    ended.abort();
    observer.disconnect();
  };
}
