/** Parallel coordinates: an axis for each swept setting and one for the objective, a line for each point, coloured by how
 * good it is. Dragging along an axis keeps the points within; a click on it lets them all in again. */

import type { TargetedPointerEvent } from "preact";
import { useRef, useState } from "preact/hooks";
import type { Sweep, SweptPoint } from "../../api/schema.ts";
import { number } from "../../base/format.ts";
import { useWidthInView } from "../../ui/in_view.ts";
import { type Axis, type Brush, type Brushes, brushBetween, goodness, isWithin } from "./parallel_axes.ts";
import { pointText } from "./sweep_words.ts";

/** In CSS pixels: of the drawing, of the names above the axes, of what lies below and beside them. */
const [HEIGHT, ABOVE, BELOW, BESIDE] = [340, 40, 14, 64];
/** Nearer axes would let their labels overlap: a narrower box scrolls. */
const LEAST_DISTANCE = 112;
/** Of the stretch of an axis that can be dragged along. */
const BRUSH_WIDTH = 26;
const LENGTH = HEIGHT - ABOVE - BELOW;

interface Props {
  readonly sweep: Sweep;
  readonly axes: readonly Axis[];
  readonly brushes: Brushes;
  readonly selected: number | null;
  readonly onBrush: (axis: string, brush: Brush | null) => void;
  readonly onSelect: (point: number) => void;
}

export function ParallelPlot({ sweep, axes, brushes, selected, onBrush, onSelect }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [hovered, setHovered] = useState<SweptPoint | null>(null);
  const width = Math.max(useWidthInView(box), 2 * BESIDE + LEAST_DISTANCE * (axes.length - 1));
  const distance = (width - 2 * BESIDE) / Math.max(1, axes.length - 1);
  const x = (index: number) => BESIDE + index * distance;
  const good = goodness(sweep);
  // The best are drawn last, over the others.
  const drawn = sweep.points.toSorted((a, b) => (good(a) ?? -1) - (good(b) ?? -1));
  return (
    <div class="parallel" ref={box}>
      <svg
        width={width}
        height={HEIGHT}
        role="img"
        aria-label={`${sweep.points.length} points over ${axes.map(({ label }) => label).join(", ")}; the table lists them`}
      >
        <g>
          {drawn.map((point) => (
            <Line
              key={point.number}
              point={point}
              path={pathOf(point, axes, x)}
              good={good(point)}
              isOut={!isWithin(point, axes, brushes)}
              isMarked={point.number === selected || point === hovered}
              onHover={setHovered}
              onSelect={onSelect}
            />
          ))}
        </g>
        {axes.map((axis, index) => (
          <AxisMarks
            key={axis.id}
            axis={axis}
            x={x(index)}
            isLast={index === axes.length - 1}
            brush={brushes.get(axis.id) ?? null}
            onBrush={(brush) => onBrush(axis.id, brush)}
          />
        ))}
      </svg>
      <p class="parallel-said small" aria-live="polite">
        {hovered ? (
          <>
            <b class="num">#{hovered.number}</b> {pointText(hovered)} · {sweep.plan.objective.metric}{" "}
            <b class="num">{number(hovered.value)}</b> · {hovered.state}
          </>
        ) : (
          <span class="faint">Drag along an axis to keep the points within; click it to let all in again.</span>
        )}
      </p>
    </div>
  );
}

const yOf = (share: number) => ABOVE + (1 - share) * LENGTH;

function pathOf(point: SweptPoint, axes: readonly Axis[], x: (index: number) => number): string {
  const places = axes.flatMap(({ place }, index) => {
    const share = place(point);
    return share === null ? [] : [`${x(index).toFixed(1)},${yOf(share).toFixed(1)}`];
  });
  return `M${places.join("L")}`;
}

interface LineProps {
  readonly point: SweptPoint;
  readonly path: string;
  readonly good: number | null;
  readonly isOut: boolean;
  readonly isMarked: boolean;
  readonly onHover: (point: SweptPoint | null) => void;
  readonly onSelect: (point: number) => void;
}

function Line({ point, path, good, isOut, isMarked, onHover, onSelect }: LineProps) {
  const classes = [
    "parallel-line",
    point.state,
    isOut ? "out" : "",
    isMarked ? "marked" : "",
    good === null ? "none" : "",
  ];
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the table's rows are reached by keys.
    <g
      class={classes.filter(Boolean).join(" ")}
      style={{ "--good": `${Math.round((good ?? 0) * 100)}%` }}
      onPointerEnter={() => !isOut && onHover(point)}
      onPointerLeave={() => onHover(null)}
      onClick={() => !isOut && onSelect(point.number)}
    >
      <path class="hit" d={path} />
      <path d={path} />
    </g>
  );
}

interface AxisProps {
  readonly axis: Axis;
  readonly x: number;
  readonly isLast: boolean;
  readonly brush: Brush | null;
  readonly onBrush: (brush: Brush | null) => void;
}

function AxisMarks({ axis, x, isLast, brush, onBrush }: AxisProps) {
  const from = useRef<number | null>(null);
  const share = (event: TargetedPointerEvent<SVGRectElement>) => {
    const { top, height } = event.currentTarget.getBoundingClientRect();
    return 1 - (event.clientY - top) / height;
  };
  const begin = (event: TargetedPointerEvent<SVGRectElement>) => {
    event.currentTarget.setPointerCapture(event.pointerId);
    from.current = share(event);
    onBrush(null);
  };
  const drag = (event: TargetedPointerEvent<SVGRectElement>) => {
    if (from.current !== null) onBrush(brushBetween(from.current, share(event)));
  };
  const end = () => {
    from.current = null;
  };
  const side = isLast ? { x: x + 9, "text-anchor": "start" } : { x: x - 9, "text-anchor": "end" };
  return (
    <g class="parallel-axis">
      <text class="name" x={x} y={16} text-anchor="middle">
        <title>{axis.id}</title>
        {axis.label}
      </text>
      <line x1={x} x2={x} y1={ABOVE} y2={ABOVE + LENGTH} />
      {axis.ticks.map(({ at, label }) => (
        <text key={label} class="num" {...(side as { x: number })} y={yOf(at) + 4}>
          <title>{label}</title>
          {label.length > MAX_LABEL ? `${label.slice(0, MAX_LABEL - 1)}…` : label}
        </text>
      ))}
      {brush && (
        <rect
          class="brush"
          x={x - BRUSH_WIDTH / 2}
          width={BRUSH_WIDTH}
          y={yOf(brush[1])}
          height={(brush[1] - brush[0]) * LENGTH}
        />
      )}
      <rect
        class="drag"
        x={x - BRUSH_WIDTH / 2}
        width={BRUSH_WIDTH}
        y={ABOVE}
        height={LENGTH}
        onPointerDown={begin}
        onPointerMove={drag}
        onPointerUp={end}
        onPointerCancel={end}
      />
    </g>
  );
}

/** Characters of a label that fit beside its axis. */
const MAX_LABEL = 10;
