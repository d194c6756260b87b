/** The reward curve of a run in the list, read once per batch finished and never for runs that have none. */

import { useEffect, useState } from "preact/hooks";
import { messageOf } from "../../api/client.ts";
import { api } from "../../api/endpoints.ts";
import type { Run } from "../../api/schema.ts";

const KEY = "reward/mean";
const NUM_POINTS = 60;
const WIDTH = 120;
const HEIGHT = 28;

/** One request at a time: a page of runs must not open twenty connections. */
let queue: Promise<unknown> = Promise.resolve();

function read(id: string): Promise<readonly number[]> {
  const answer = queue.then(() => api.metrics(id, [KEY], NUM_POINTS));
  queue = answer.catch(() => undefined);
  return answer.then((metrics) => metrics.series[KEY]?.value ?? []);
}

export function RewardSparkline({ run }: { run: Run }) {
  const [values, setValues] = useState<readonly number[]>([]);
  useEffect(() => {
    if (run.num_batches_done === 0) return undefined;
    let wanted = true;
    read(run.id).then(
      (points) => wanted && setValues(points),
      (error: unknown) => console.warn(`no reward curve for ${run.id}: ${messageOf(error)}`),
    );
    return () => {
      wanted = false;
    };
  }, [run.id, run.num_batches_done]);
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
