/** How far a replay is ahead of the run, or behind it, at the end of each batch. */

import type { Replay } from "../../api/schema.ts";
import { duration } from "../../base/format.ts";
import { isBeyondError, leads, leadText } from "./replay_words.ts";

/** Of the chart, in units of its view box; each batch is one wide. */
const HEIGHT = 48;
const GAP = 0.12;

export function LeadChart({ replay }: { replay: Replay }) {
  const found = leads(replay);
  const [ahead, behind] = [Math.max(0, ...found), Math.max(0, ...found.map((seconds) => -seconds))];
  const scale = HEIGHT / Math.max(ahead + behind, Number.MIN_VALUE);
  const level = ahead * scale;
  const [gain, loss] = isBeyondError(replay) ? ["var(--good)", "var(--bad)"] : ["var(--ink-3)", "var(--ink-3)"];
  return (
    <section class="card" aria-label="Ahead or behind">
      <div class="card-head">
        <h2>Ahead or behind</h2>
        <span class="tiny faint">at the end of each batch</span>
      </div>
      <p class="small">{leadText(replay)}</p>
      <svg
        class="lead-chart"
        viewBox={`0 0 ${found.length} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={leadText(replay)}
      >
        {found.map((seconds, index) => (
          <rect
            key={replay.first_batch + index}
            x={index + GAP / 2}
            width={1 - GAP}
            y={level - Math.max(0, seconds) * scale}
            height={Math.abs(seconds) * scale}
            fill={seconds > 0 ? gain : loss}
          >
            <title>
              Batch {replay.first_batch + index}: {duration(Math.abs(seconds))} {seconds < 0 ? "behind" : "ahead"}
            </title>
          </rect>
        ))}
        <line x1={0} x2={found.length} y1={level} y2={level} vector-effect="non-scaling-stroke" />
      </svg>
      <div class="row-between tiny faint num">
        <span>batch {replay.first_batch}</span>
        <span>above: ahead · below: behind</span>
        <span>batch {replay.first_batch + found.length - 1}</span>
      </div>
    </section>
  );
}
