/** The best point so far over what the sweep has cost: a step up for each improvement. */

import uPlot from "uplot";
import type { Sweep } from "../../api/schema.ts";
import { number } from "../../base/format.ts";
import { colour, faded } from "../../base/palette.ts";
import { tickTexts } from "../../charts/axis.ts";
import { axisStyle, padded, usePlot, valueAxis } from "../../charts/plot.ts";
import { Empty } from "../../ui/states.tsx";
import { isOnCpu } from "./sweep_words.ts";

const HEIGHT = 240;

interface Props {
  readonly hours: readonly number[];
  readonly values: readonly number[];
  readonly unit: string;
  readonly height: number;
}

export function BestChart({ sweep }: { sweep: Sweep }) {
  const unit = isOnCpu(sweep) ? "lane-hours" : "GPU-hours";
  const steps = sweep.best_so_far.map((step) => ({
    hours: isOnCpu(sweep) ? step.lane_hours : step.gpu_hours,
    value: step.value,
  }));
  const last = steps.at(-1);
  const spent = isOnCpu(sweep) ? sweep.lane_hours : sweep.gpu_hours;
  return (
    <section class="card" aria-label="Best so far">
      <div class="card-head">
        <h2>Best so far</h2>
        <span class="tiny faint">mean over seeds after equally many batches, over {unit} spent</span>
      </div>
      {last === undefined ? (
        <Empty title="No point has a value yet">
          It comes with the first evaluation that all seeds of a point have.
        </Empty>
      ) : (
        <Steps
          hours={[...steps.map(({ hours }) => hours), Math.max(spent, last.hours)]}
          values={[...steps.map(({ value }) => value), last.value]}
          unit={unit}
          height={HEIGHT}
        />
      )}
    </section>
  );
}

function Steps(props: Props) {
  const box = usePlot({ props, shape: [props.unit], options, columns, data: [props.hours, props.values] });
  const label = `From ${number(props.values[0])} to ${number(props.values.at(-1))} over ${number(props.hours.at(-1))} ${props.unit}`;
  return <div ref={box} class="chart" role="img" aria-label={label} style={{ minHeight: `${props.height}px` }} />;
}

function columns({ hours, values }: Props): uPlot.AlignedData {
  return [[...hours], [...values]];
}

function options(latest: { readonly current: Props }, width: number): uPlot.Options {
  const stepped = uPlot.paths.stepped?.({ align: 1 });
  const accent = colour("--accent");
  return {
    width,
    height: latest.current.height,
    padding: [10, 18, 0, 0],
    legend: { show: false },
    series: [
      {},
      {
        label: "best",
        stroke: accent,
        fill: faded(accent, 0.08),
        width: 2,
        points: { show: true, size: 5, fill: accent },
        ...(stepped ? { paths: stepped } : {}),
      },
    ],
    scales: { x: { time: false, range: (_plot, _low, high) => [0, high || 1] }, y: { range: padded } },
    axes: [
      {
        ...axisStyle(),
        size: 30,
        gap: 4,
        label: latest.current.unit,
        labelSize: 16,
        labelFont: axisStyle().font as string,
        values: (_plot, ticks, _axis, _space, increment) => tickTexts(ticks, increment),
      },
      valueAxis(),
    ],
    cursor: { y: false, drag: { x: false, y: false } },
  };
}
