/** The reward curves of the runs in the list: one request for all that lack one, again when a run has trained on. */

import { useEffect, useRef, useState } from "preact/hooks";
import { messageOf } from "../../api/client.ts";
import { api } from "../../api/endpoints.ts";
import type { ListedRun } from "../../api/schema.ts";

const WIDTH = 120;
const HEIGHT = 28;
/** The server answers for so many runs at once. */
const MAX_RUNS = 200;
/** Live runs end batches all the time: their curves are read together this often at most. */
const REFRESH_MILLISECONDS = 5000;

type Shown = Pick<ListedRun, "id" | "num_batches_done">;

/** The curves by the run's id. */
export function useSparklines(runs: readonly Shown[]): ReadonlyMap<string, readonly number[]> {
  const [curves, setCurves] = useState<ReadonlyMap<string, readonly number[]>>(new Map());
  const latest = useRef(runs);
  latest.current = runs;
  const [reader] = useState(() => new SparklineReader((read) => setCurves((before) => new Map([...before, ...read]))));
  useEffect(() => reader.show(latest), [runs]);
  useEffect(() => () => reader.stop(), [reader]);
  return curves;
}

/** Reads the curves that rows lack: at once those of runs not seen before, the others when a few seconds have passed. */
class SparklineReader {
  /** Batches that the curve of each run was read after. */
  private readonly readAfter = new Map<string, number>();
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly onRead: (curves: [string, readonly number[]][]) => void) {}

  show(rows: { readonly current: readonly Shown[] }): void {
    if (rows.current.some((run) => run.num_batches_done > 0 && !this.readAfter.has(run.id))) this.read(rows.current);
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.read(rows.current);
    }, REFRESH_MILLISECONDS);
  }

  stop(): void {
    clearTimeout(this.timer);
  }

  private read(rows: readonly Shown[]): void {
    const lacking = rows.filter((run) => run.num_batches_done > (this.readAfter.get(run.id) ?? 0));
    for (let first = 0; first < lacking.length; first += MAX_RUNS) {
      const asked = lacking.slice(first, first + MAX_RUNS);
      for (const run of asked) this.readAfter.set(run.id, run.num_batches_done);
      api.sparklines(asked.map((run) => run.id)).then(
        ({ series }) => this.onRead(Object.entries(series)),
        (error: unknown) => console.warn(`the rows' reward curves could not be read: ${messageOf(error)}`),
      );
    }
  }
}

export function Sparkline({ values }: { values: readonly number[] }) {
  if (values.length < 2) return <span class="faint">–</span>;
  const low = Math.min(...values);
  const span = Math.max(...values) - low || 1;
  const points = values
    .map(
      (value, index) =>
        `${((index / (values.length - 1)) * (WIDTH - 4) + 2).toFixed(1)},${(HEIGHT - 3 - ((value - low) / span) * (HEIGHT - 6)).toFixed(1)}`,
    )
    .join(" ");
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label={`Reward from ${values[0]?.toFixed(3)} to ${values.at(-1)?.toFixed(3)}`}
    >
      <polyline points={points} fill="none" stroke="var(--series-1)" stroke-width="1.6" stroke-linejoin="round" />
    </svg>
  );
}
