/** Held-out samples of several runs side by side, prompt by prompt: the newest evaluation of each. */

import { useState } from "preact/hooks";
import { api } from "../api/endpoints.ts";
import type { Run, Sample } from "../api/schema.ts";
import { rewardsOf } from "../base/rewards.ts";
import { useResource } from "../ui/resource.ts";
import { Empty, Failed, Loading } from "../ui/states.tsx";
import { alignedByPrompt } from "./aligned_samples.ts";
import { rewardScale } from "./run/sample_rows.ts";
import { Enlarged, Tile } from "./run/sample_tile.tsx";

export interface Column {
  readonly run: Run;
  readonly colour: string;
}

/** Prompts shown, and samples of each prompt and run; the runs' own pages have all of them. */
const [MAX_PROMPTS, MAX_TILES] = [12, 4];

async function newestOf(runs: readonly Column[]): Promise<readonly (readonly Sample[])[]> {
  return Promise.all(runs.map(async ({ run }) => (await api.samples(run.id, "evaluate")).results));
}

export function CompareSamples({ runs }: { runs: readonly Column[] }) {
  const samples = useResource(() => newestOf(runs), [runs.map(({ run }) => run.id).join(",")]);
  const [enlarged, setEnlarged] = useState<{ sample: Sample; run: Run } | null>(null);
  const rows = alignedByPrompt(samples.value ?? []);
  return (
    <section class="card" aria-label="Held-out samples">
      <div class="card-head">
        <h2>Held-out samples</h2>
        <span class="tiny faint">of each run's newest evaluation; runs of one seed draw from the same noise</span>
      </div>
      {samples.error !== null && <Failed message={samples.error} onRetry={samples.reload} />}
      {samples.value === undefined && samples.error === null && <Loading />}
      {samples.value && rows.length === 0 && <Empty title="None of these runs has been evaluated yet" />}
      {samples.value && rows.length > 0 && (
        <div class="table-wrap">
          <table class="sample-table">
            <thead>
              <tr>
                <th>Prompt</th>
                {runs.map(({ run, colour }) => (
                  <th key={run.id} style={{ color: `var(${colour})` }}>
                    {run.name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.slice(0, MAX_PROMPTS).map(([prompt, cells]) => (
                <tr key={prompt}>
                  <td>{prompt}</td>
                  {cells.map((cell, index) => {
                    const run = runs[index]?.run;
                    const scale = rewardScale(samples.value?.[index] ?? []);
                    return (
                      <td key={index}>
                        <div class="tiles">
                          {cell.slice(0, MAX_TILES).map((sample) => (
                            <Tile
                              key={sample.member}
                              sample={sample}
                              scale={scale}
                              onOpen={() => run && setEnlarged({ sample, run })}
                            />
                          ))}
                          {cell.length === 0 && <span class="tiny faint">not drawn</span>}
                        </div>
                      </td>
                    );
                  })}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {rows.length > MAX_PROMPTS && (
        <p class="tiny faint">{rows.length - MAX_PROMPTS} more prompts on the runs' own pages.</p>
      )}
      {enlarged && (
        <Enlarged sample={enlarged.sample} rewards={rewardsOf(enlarged.run.spec)} onClose={() => setEnlarged(null)} />
      )}
    </section>
  );
}
