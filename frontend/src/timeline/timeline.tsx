/** The lanes of one run on a time axis: wheel zooms, drag pans, keys do both, hovering tells what a span was.
 *
 * Drawing happens at most once per frame and outside Preact: state that changes per frame lives in refs.
 */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { serverNow } from "../base/clock.ts";
import { oncePerFrame } from "../base/frames.ts";
import { themeVersion } from "../base/palette.ts";
import { decisionBehind } from "../live/lends.ts";
import type { TimelineStore } from "../live/timeline_store.ts";
import { Empty } from "../ui/states.tsx";
import { draw } from "./draw.ts";
import { type Layout, layout } from "./layout.ts";
import { TimelineLegend } from "./legend.tsx";
import { spanAt } from "./search.ts";
import { type Hovered, SpanTooltip } from "./tooltip.tsx";
import { type Extent, fitted, followed, panned, type View, zoomed } from "./view.ts";

const FIRST_WINDOW_SECONDS = 60;
const ZOOM_STEP = 1.25;

interface Props {
  readonly store: TimelineStore;
  readonly live: boolean;
}

export function Timeline({ store, live }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const state = useRef<PaintState>({ view: null, width: 0, hover: null });
  const [hovered, setHovered] = useState<Hovered | null>(null);
  const [following, setFollowing] = useState(live);
  const isLive = useRef(live);
  isLive.current = live;

  const control = useMemo(() => controlOf(canvas, store, state.current, isLive, setFollowing), [store]);

  useEffect(
    () =>
      watch(canvas.current, state.current, control, store, (hover) => {
        state.current.hover = hover;
        setHovered(hover);
        control.repaint();
      }),
    [control],
  );
  const version = store.version.value;
  useEffect(control.repaint, [version, themeVersion.value]);

  const onKeyDown = (event: KeyboardEvent) => {
    const move = KEYS[event.key];
    if (!move) return;
    event.preventDefault();
    event.stopPropagation();
    control.change(move);
  };

  return (
    <div class="timeline">
      <div class="row-between">
        <TimelineLegend store={store} />
        <Tools live={live} following={following} change={control.change} />
      </div>
      {store.numSpans === 0 && (
        <Empty title="No lane time yet">Spans appear here as soon as the run's lanes report what they do.</Empty>
      )}
      <div class="timeline-box" hidden={store.numSpans === 0}>
        <canvas
          ref={canvas}
          tabIndex={0}
          role="img"
          onKeyDown={onKeyDown}
          aria-label={`Timeline of ${store.tracks.length} lanes. Arrow keys pan, plus and minus zoom, 0 shows everything, F follows.`}
        />
        {hovered && <SpanTooltip {...hovered} />}
      </div>
      <p class="tiny faint">
        Wheel zooms, drag pans, double-click shows everything. Vertical ticks: a policy version was published; the line
        at a lane's foot leads to its pull. Arrows: a trainer lane takes rollout work.
      </p>
    </div>
  );
}

function Tools({ live, following, change }: { live: boolean; following: boolean; change: (move: Move) => void }) {
  return (
    <div class="row">
      {live && (
        <label class="check">
          <input
            type="checkbox"
            checked={following}
            onChange={(event) =>
              change(event.currentTarget.checked ? followed : (view) => ({ ...view, follow: false }))
            }
          />
          Follow live
        </label>
      )}
      <button type="button" class="button small" aria-label="Zoom in" onClick={() => change(KEYS["+"] as Move)}>
        +
      </button>
      <button type="button" class="button small" aria-label="Zoom out" onClick={() => change(KEYS["-"] as Move)}>
        −
      </button>
      <button type="button" class="button small" onClick={() => change(KEYS["0"] as Move)}>
        Fit all
      </button>
    </div>
  );
}

type Move = (view: View, extent: Extent) => View;

const middle = (view: View) => (view.from + view.to) / 2;
const KEYS: Record<string, Move> = {
  ArrowLeft: (view, extent) => panned(view, -(view.to - view.from) * 0.15, extent),
  ArrowRight: (view, extent) => panned(view, (view.to - view.from) * 0.15, extent),
  "+": (view, extent) => zoomed(view, 1 / ZOOM_STEP, middle(view), extent),
  "=": (view, extent) => zoomed(view, 1 / ZOOM_STEP, middle(view), extent),
  "-": (view, extent) => zoomed(view, ZOOM_STEP, middle(view), extent),
  "0": (view, extent) => fitted(extent, view.follow),
  f: (view, extent) => followed(view, extent),
};

function extentOf(store: TimelineStore, live: boolean): Extent | null {
  const extent = store.extent();
  // Between two batches of events the present moves on all the same; but a clock far ahead must not empty the window.
  if (extent && live) return { from: extent.from, to: Math.max(extent.to, Math.min(serverNow(), extent.to + 5)) };
  return extent;
}

interface PaintState {
  view: View | null;
  width: number;
  hover: Hovered | null;
}

function place(store: TimelineStore, width: number): Layout {
  return layout(width, store.tracks.length, store.queues.length > 0);
}

function paint(canvas: HTMLCanvasElement | null, store: TimelineStore, state: PaintState, live: boolean): void {
  const extent = extentOf(store, live);
  if (!canvas || !extent) return;
  state.width = canvas.parentElement?.clientWidth ?? 0;
  if (state.width === 0) return;
  state.view = moved(state.view, extent, live);
  const where = place(store, state.width);
  const ratio = devicePixelRatio;
  if (canvas.width !== Math.round(where.width * ratio) || canvas.height !== Math.round(where.height * ratio)) {
    canvas.width = Math.round(where.width * ratio);
    canvas.height = Math.round(where.height * ratio);
    canvas.style.height = `${where.height}px`;
  }
  const context = canvas.getContext("2d");
  if (!context) return;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  const hover = state.hover && { lane: store.tracks.indexOf(state.hover.track), span: state.hover.span };
  draw({ context, place: where, view: state.view, origin: store.extent()?.from ?? 0, hover }, store);
}

function moved(view: View | null, extent: Extent, live: boolean): View {
  if (view?.follow) return followed(view, extent);
  if (view) return view;
  if (!live || extent.to - extent.from < FIRST_WINDOW_SECONDS) return fitted(extent, live);
  return followed({ from: extent.to - FIRST_WINDOW_SECONDS, to: extent.to, follow: true }, extent);
}

interface Control {
  readonly repaint: () => void;
  readonly change: (next: Move) => void;
}

function controlOf(
  canvas: { readonly current: HTMLCanvasElement | null },
  store: TimelineStore,
  state: PaintState,
  isLive: { readonly current: boolean },
  onFollow: (follow: boolean) => void,
): Control {
  const repaint = oncePerFrame(() => paint(canvas.current, store, state, isLive.current));
  const change = (next: Move) => {
    const extent = extentOf(store, isLive.current);
    if (!extent || !state.view) return;
    state.view = next(state.view, extent);
    onFollow(state.view.follow);
    repaint();
  };
  return { repaint, change };
}

/** Pointer and wheel listeners on the canvas; returns their removal. */
function watch(
  canvas: HTMLCanvasElement | null,
  state: PaintState,
  control: Control,
  store: TimelineStore,
  onHover: (hover: Hovered | null) => void,
): () => void {
  if (!canvas) return () => undefined;
  const ended = new AbortController();
  const listen = <K extends keyof HTMLElementEventMap>(
    type: K,
    handler: (event: HTMLElementEventMap[K]) => void,
    passive = true,
  ) => canvas.addEventListener(type, handler, { signal: ended.signal, passive });
  const secondsPerPixel = () =>
    state.view ? (state.view.to - state.view.from) / (state.width - place(store, state.width).labelWidth) : 0;
  const timeAt = (x: number) =>
    (state.view?.from ?? 0) + (x - place(store, state.width).labelWidth) * secondsPerPixel();
  let dragX: number | null = null;

  listen(
    "wheel",
    (event) => {
      event.preventDefault();
      if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        control.change((view, extent) => panned(view, event.deltaX * secondsPerPixel(), extent));
      } else {
        control.change((view, extent) => zoomed(view, Math.exp(event.deltaY * 0.0015), timeAt(event.offsetX), extent));
      }
    },
    false,
  );
  listen("pointerdown", (event) => {
    dragX = event.offsetX;
    canvas.setPointerCapture(event.pointerId);
  });
  listen("pointerup", () => {
    dragX = null;
  });
  listen("pointermove", (event) => {
    if (dragX !== null) {
      const by = (dragX - event.offsetX) * secondsPerPixel();
      if (Math.abs(dragX - event.offsetX) > 2) {
        dragX = event.offsetX;
        onHover(null);
        control.change((view, extent) => panned(view, by, extent));
      }
      return;
    }
    onHover(hoverAt(event, store, state, timeAt(event.offsetX), secondsPerPixel() * 3));
  });
  listen("pointerleave", () => onHover(null));
  listen("dblclick", () => control.change(KEYS["0"] as Move));
  const observer = new ResizeObserver(control.repaint);
  if (canvas.parentElement) observer.observe(canvas.parentElement);
  return () => {
    ended.abort();
    observer.disconnect();
  };
}

function hoverAt(
  event: PointerEvent,
  store: TimelineStore,
  state: PaintState,
  time: number,
  slack: number,
): Hovered | null {
  const where = place(store, state.width);
  const track = store.tracks[Math.floor((event.offsetY - where.rowsTop) / where.rowHeight)];
  if (!track || event.offsetX < where.labelWidth || event.offsetY < where.rowsTop) return null;
  const span = spanAt(track.spans, time, slack);
  if (!span) return null;
  const lend = span.kind === "lent_generate" ? decisionBehind(store.lends, track.lane, span.start) : undefined;
  return { track, span, lend, x: event.offsetX + 14, y: event.offsetY + 16, toLeft: event.offsetX > state.width - 260 };
}
