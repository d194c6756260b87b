/** Throughput by split: how many of the lanes train, for the chosen mode and the strict ones beside it. Filled points were
 * simulated; outlined ones are upper limits, or estimates in pools too large to simulate. */

import type { Plan, SplitPoint } from "../api/schema.ts";
import { number } from "../base/format.ts";
import { modeLabel } from "./plan_words.ts";

const WIDTH = 420;
const HEIGHT = 220;
const LEFT = 44;
const RIGHT = 12;
const TOP = 14;
const BOTTOM = 34;

interface Curve {
  readonly mode: string;
  readonly points: readonly SplitPoint[];
  readonly colour: string;
}

/** The chosen mode before the others, and of those the ones with a curve of their own. */
function curvesOf(plan: Plan): Curve[] {
  const others = ["disaggregated", "tsp"].filter((mode) => mode !== plan.mode);
  return [plan.mode, ...others]
    .map((mode, index) => ({ mode, points: plan.curves[mode] ?? [], colour: `var(--series-${index + 1})` }))
    .filter(({ mode, points }) => mode !== "colocated" && points.length > 0);
}

export function SplitChart({ plan }: { plan: Plan }) {
  const curves = curvesOf(plan);
  const all = curves.flatMap((curve) => curve.points);
  const most = Math.max(...all.map((point) => point.num_trainer));
  if (all.length === 0 || most < 2) return null;
  const top = Math.max(plan.bound_samples_per_second, ...all.map((point) => point.samples_per_second)) * 1.06;
  const x = (num_trainer: number) => LEFT + ((num_trainer - 1) / (most - 1)) * (WIDTH - LEFT - RIGHT);
  const y = (rate: number) => TOP + (1 - rate / top) * (HEIGHT - TOP - BOTTOM);
  const level = (rate: number, label: string) => (
    <g class="level">
      <line x1={LEFT} x2={WIDTH - RIGHT} y1={y(rate)} y2={y(rate)} />
      <text x={WIDTH - RIGHT} y={y(rate) - 4} text-anchor="end">
        {label}
      </text>
    </g>
  );
  const colocated = plan.by_mode.colocated;
  return (
    <figure class="split-chart">
      <figcaption class="small strong">Throughput by split</figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={describe(plan, curves)}>
        {[0, top / 2, top].map((rate) => (
          <text key={rate} class="tick" x={LEFT - 6} y={y(rate) + 4} text-anchor="end">
            {number(rate, 2)}
          </text>
        ))}
        {ticks(most).map((tick) => (
          <text key={tick} class="tick" x={x(tick)} y={HEIGHT - BOTTOM + 16} text-anchor="middle">
            {tick}
          </text>
        ))}
        <text class="tick" x={(LEFT + WIDTH - RIGHT) / 2} y={HEIGHT - 3} text-anchor="middle">
          trainer lanes
        </text>
        {curves.toReversed().map(({ mode, points, colour }) => (
          <g key={mode} style={{ color: colour }}>
            <polyline
              points={points.map((point) => `${x(point.num_trainer)},${y(point.samples_per_second)}`).join(" ")}
            />
            {points.map((point) => (
              <circle
                key={point.num_trainer}
                cx={x(point.num_trainer)}
                cy={y(point.samples_per_second)}
                r={isChosen(plan, mode, point) ? 5.5 : 3}
                class={point.is_simulated ? "" : "limit"}
              >
                <title>{`${modeLabel(mode)}, ${point.num_trainer} trainer lanes: ${number(point.samples_per_second)} samples/s${point.is_simulated ? "" : ", not simulated"}`}</title>
              </circle>
            ))}
          </g>
        ))}
        {level(plan.bound_samples_per_second, "bound")}
        {colocated &&
          level(colocated.samples_per_second, plan.mode === "colocated" ? "colocated, chosen" : "colocated")}
      </svg>
      <ul class="span-legend">
        {curves.map(({ mode, colour }) => (
          <li key={mode}>
            <i class="swatch" style={{ "--swatch": colour }} />
            {modeLabel(mode)}
            {mode === plan.mode && " (chosen)"}
          </li>
        ))}
      </ul>
    </figure>
  );
}

function isChosen(plan: Plan, mode: string, point: SplitPoint): boolean {
  return mode === plan.mode && point.num_trainer === plan.by_mode[mode]?.num_trainer;
}

/** At most eight whole numbers from 1 to `most`. */
function ticks(most: number): number[] {
  const step = Math.max(1, Math.ceil(most / 8));
  return Array.from({ length: Math.ceil(most / step) }, (_, index) => 1 + index * step);
}

function describe(plan: Plan, curves: readonly Curve[]): string {
  const best = plan.by_mode[plan.mode];
  return `Throughput by number of trainer lanes for ${curves.length} modes; best ${number(best?.samples_per_second)} samples/s with ${best?.num_trainer} trainer lanes.`;
}
