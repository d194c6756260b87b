/** Held-out pictures of the untrained policy beside the newest ones, prompt by prompt, from the same seeds. */

import { useState } from "preact/hooks";
import { api } from "../../api/endpoints.ts";
import type { Sample } from "../../api/schema.ts";
import { rewardsOf, watchedVerdicts } from "../../base/rewards.ts";
import { useResource } from "../../ui/resource.ts";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import type { RunProps } from "./context.ts";
import { byPrompt, rewardScale } from "./sample_rows.ts";
import { Enlarged, Tile } from "./sample_tile.tsx";

/** Pictures shown a prompt and side; the Samples tab has all of them. */
const MAX_TILES = 4;

interface Pair {
  readonly first: number;
  readonly last: number;
  readonly before: readonly Sample[];
  readonly after: readonly Sample[];
}

async function readPair(runId: string): Promise<Pair | null> {
  const { batches } = await api.samples(runId, "evaluate");
  const first = batches.length > 0 ? Math.min(...batches) : undefined;
  if (first === undefined) return null;
  const last = Math.max(...batches);
  const [before, after] = await Promise.all([
    api.samples(runId, "evaluate", first),
    api.samples(runId, "evaluate", last),
  ]);
  return { first, last, before: before.results, after: after.results };
}

/** Pictures of one prompt and side that stand beside each other. */
const TILES_A_LINE = 4;

export function BeforeAfter({ store, run }: RunProps) {
  const pair = useResource(() => readPair(run.id), [run.id, store.samplesVersions.evaluate.value]);
  const [enlarged, setEnlarged] = useState<Sample | null>(null);
  return (
    <section class="card before-after" aria-label="Before and after pictures">
      <div class="card-head">
        <h2>Before → after</h2>
        {pair.value && (
          <span class="tiny faint">
            held-out seeds, batch {pair.value.first}
            {pair.value.last > pair.value.first && ` → batch ${pair.value.last}`}
          </span>
        )}
      </div>
      {pair.error !== null && <Failed message={pair.error} onRetry={pair.reload} />}
      {pair.value === undefined && pair.error === null && <Loading />}
      {pair.value === null && <NoPictures store={store} run={run} />}
      {pair.value && <PairGrid pair={pair.value} verdict={watchedVerdicts(run.spec)[0]} onOpen={setEnlarged} />}
      {enlarged && (
        <Enlarged
          sample={enlarged}
          rewards={rewardsOf(run.spec)}
          bases={pair.value?.before ?? []}
          onClose={() => setEnlarged(null)}
        />
      )}
    </section>
  );
}

/** An evaluation's numbers arrive before its pictures are uploaded. */
function NoPictures({ store }: RunProps) {
  void store.metrics.version.value;
  if (store.metrics.curve("eval/reward") && !store.hasEnded.value)
    return <Empty title="The pictures are being uploaded" />;
  return (
    <Empty title="No evaluation yet">
      The run draws its held-out prompts once before training and again on its cadence.
    </Empty>
  );
}

function PairGrid(props: { pair: Pair; verdict: string | undefined; onOpen: (sample: Sample) => void }) {
  const { pair, verdict, onOpen } = props;
  const before = byPrompt(pair.before);
  const after = byPrompt(pair.after);
  const scale = rewardScale([...pair.before, ...pair.after]);
  const numColumns = Math.min(
    TILES_A_LINE,
    Math.max(1, ...[...before.values(), ...after.values()].map((row) => row.length)),
  );
  const tiles = (samples: readonly Sample[]) =>
    samples
      .slice(0, MAX_TILES)
      .map((sample) => (
        <Tile key={`${sample.member}`} sample={sample} scale={scale} verdict={verdict} onOpen={onOpen} />
      ));
  return (
    // A strip that scrolls sideways is reached by keyboard too.
    <ul class="pairs" tabIndex={0} aria-label="Prompts, before and after" style={{ "--columns": numColumns }}>
      {[...before.keys()].map((prompt) => (
        <li key={prompt} class="pair">
          <span class="pair-prompt" title={before.get(prompt)?.[0]?.prompt}>
            {before.get(prompt)?.[0]?.prompt}
          </span>
          <div class="tiles">{tiles(before.get(prompt) ?? [])}</div>
          <span class="arrow" aria-hidden="true">
            →
          </span>
          <div class="tiles">
            {pair.first === pair.last ? <span class="tiny faint">training…</span> : tiles(after.get(prompt) ?? [])}
          </div>
        </li>
      ))}
    </ul>
  );
}
