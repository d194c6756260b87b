/** What each lend was predicted to gain against what it gained; on the diagonal a prediction came true. */

import { duration, number } from "../../base/format.ts";
import { Empty } from "../../ui/states.tsx";
import { type GradedLend, predictionError } from "./lend_measures.ts";
import { gainText } from "./lend_words.ts";

/** Side of the plot in units of its drawing, and its margins for the axes. */
const [SIDE, LEFT, BOTTOM] = [260, 52, 34];
/** Empty space around the points, as a share of their range. */
const AIR = 0.08;

interface Props {
  readonly lends: readonly GradedLend[];
  readonly selected: string | null;
  readonly onSelect: (id: string) => void;
}

export function GainScatter({ lends, selected, onSelect }: Props) {
  const error = predictionError(lends);
  return (
    <section class="card" aria-label="Predicted against realised">
      <div class="card-head">
        <h2>Predicted against realised</h2>
        <span class="tiny faint">seconds gained, net of switching; a point for each lend that has both</span>
      </div>
      {error === null ? (
        <Empty title="No lend has both gains yet">They are known once a batch with the lane has been measured.</Empty>
      ) : (
        <>
          <p class="small">
            {number(lends.length)} graded: they gained <b class="num">{duration(Math.abs(error.bias))}</b>{" "}
            {error.bias < 0 ? "less" : "more"} than predicted on average, with a median error of{" "}
            <b class="num">{duration(error.median)}</b>; {number(error.numLosses)} lost where a gain was predicted.
          </p>
          <Plot {...{ lends, selected, onSelect }} />
        </>
      )}
    </section>
  );
}

function Plot({ lends, selected, onSelect }: Props) {
  const values = lends.flatMap(({ predicted, realised }) => [predicted, realised]);
  const [least, most] = [Math.min(0, ...values), Math.max(0, ...values)];
  const air = AIR * (most - least || 1);
  const [low, high] = [least - air, most + air];
  const place = (value: number) => (SIDE * (value - low)) / (high - low);
  const [zero, top] = [place(0), SIDE];
  return (
    <svg
      class="lend-plot"
      viewBox={`${-LEFT} -6 ${SIDE + LEFT + 8} ${SIDE + BOTTOM + 6}`}
      role="img"
      aria-label="Realised gain over predicted gain"
    >
      <line class="diagonal" x1={0} y1={SIDE} x2={SIDE} y2={0} />
      <line class="zero" x1={zero} y1={0} x2={zero} y2={SIDE} />
      <line class="zero" x1={0} y1={top - zero} x2={SIDE} y2={top - zero} />
      {lends.map(({ lend, predicted, realised }) => (
        // biome-ignore lint/a11y/noStaticElementInteractions: the table lists the same lends.
        <circle
          key={lend.id}
          class={`${lend.id === selected ? "selected" : ""} ${lend.kind}`}
          cx={place(predicted)}
          cy={SIDE - place(realised)}
          r={lend.id === selected ? 5 : 3}
          onClick={() => onSelect(lend.id)}
        >
          <title>{`${lend.run_name}, ${lend.lane || lend.lane_in_run}: predicted ${gainText(predicted)}, realised ${gainText(realised)}`}</title>
        </circle>
      ))}
      {[least, most].map((value) => (
        <g key={value} class="num">
          <text x={place(value)} y={SIDE + 14} text-anchor="middle">
            {gainText(value)}
          </text>
          <text x={-6} y={SIDE - place(value) + 4} text-anchor="end">
            {gainText(value)}
          </text>
        </g>
      ))}
      <text x={SIDE / 2} y={SIDE + 30} text-anchor="middle">
        predicted
      </text>
      <text x={-LEFT + 10} y={SIDE / 2} text-anchor="middle" transform={`rotate(-90 ${-LEFT + 10} ${SIDE / 2})`}>
        realised
      </text>
    </svg>
  );
}
