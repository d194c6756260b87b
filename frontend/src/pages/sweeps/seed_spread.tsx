/** How far the seeds of each point lie apart: a dot for each seed, a bar for their mean, points from the best down. */

import type { Sweep, SweptPoint } from "../../api/schema.ts";
import { number } from "../../base/format.ts";
import { Empty } from "../../ui/states.tsx";
import { bestFirst, pointText } from "./sweep_words.ts";

/** In CSS pixels: of the drawing, above and below it, of its value axis, and of a point. */
const [HEIGHT, ABOVE, BELOW, AXIS, COLUMN] = [240, 12, 26, 54, 26];
const NUM_TICKS = 4;

interface Props {
  readonly sweep: Sweep;
  readonly selected: number | null;
  readonly onSelect: (point: number) => void;
}

export function SeedSpread({ sweep, selected, onSelect }: Props) {
  const points = bestFirst(sweep).filter(({ value }) => value !== null);
  return (
    <section class="card" aria-label="Spread over seeds">
      <div class="card-head">
        <h2>Spread over seeds</h2>
        <span class="tiny faint">newest value of each seed, and their mean; best first</span>
      </div>
      {sweep.plan.num_seeds === 1 && (
        <Empty title="One seed for each point">
          With three or more, num_seeds tells a better point from a lucky one.
        </Empty>
      )}
      {sweep.plan.num_seeds > 1 && points.length === 0 && <Empty title="No seed has a value yet" />}
      {sweep.plan.num_seeds > 1 && points.length > 0 && <Dots {...{ points, selected, onSelect }} />}
    </section>
  );
}

interface DotsProps extends Omit<Props, "sweep"> {
  readonly points: readonly SweptPoint[];
}

function Dots({ points, selected, onSelect }: DotsProps) {
  const [low, high] = [
    Math.min(...points.map(({ least }) => least ?? 0)),
    Math.max(...points.map(({ greatest }) => greatest ?? 0)),
  ];
  const span = high - low || 1;
  const length = HEIGHT - ABOVE - BELOW;
  const y = (value: number) => ABOVE + (1 - (value - low) / span) * length;
  const width = AXIS + points.length * COLUMN + 8;
  const ticks = Array.from({ length: NUM_TICKS }, (_, index) => low + (span * index) / (NUM_TICKS - 1));
  return (
    <div class="spread">
      <svg width={width} height={HEIGHT} role="img" aria-label="Values of all seeds by point; the table lists them">
        {ticks.map((tick) => (
          <g key={tick}>
            <line class="grid-line" x1={AXIS} x2={width} y1={y(tick)} y2={y(tick)} />
            <text class="num" x={AXIS - 8} y={y(tick) + 4} text-anchor="end">
              {number(tick)}
            </text>
          </g>
        ))}
        {points.map((point, index) => {
          const x = AXIS + (index + 0.5) * COLUMN;
          return (
            // biome-ignore lint/a11y/noStaticElementInteractions: the table's rows are reached by keys.
            <g
              key={point.number}
              class={`spread-point ${point.state} ${point.number === selected ? "marked" : ""}`}
              onClick={() => onSelect(point.number)}
            >
              <title>{`#${point.number} ${pointText(point)}: ${number(point.least)} to ${number(point.greatest)}, mean ${number(point.value)}`}</title>
              <rect class="hit" x={x - COLUMN / 2} y={0} width={COLUMN} height={HEIGHT} />
              <line x1={x} x2={x} y1={y(point.least ?? low)} y2={y(point.greatest ?? high)} />
              {point.runs.map(
                (run) => run.value !== null && <circle key={run.seed} cx={x} cy={y(run.value)} r={3.5} />,
              )}
              <line class="mean" x1={x - 7} x2={x + 7} y1={y(point.value ?? low)} y2={y(point.value ?? low)} />
              <text class="num" x={x} y={HEIGHT - 8} text-anchor="middle">
                {point.number}
              </text>
            </g>
          );
        })}
      </svg>
    </div>
  );
}
