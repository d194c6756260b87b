/** Pictures or clips of one batch as a grid of prompt × member, with reward, advantage and version; ← and → change the batch. */

import { useEffect, useMemo, useState } from "preact/hooks";
import { api } from "../../api/endpoints.ts";
import { type Sample, type SamplePurpose, samplePurposeValues } from "../../api/schema.ts";
import { number } from "../../base/format.ts";
import { rewardsOf, watchedVerdicts } from "../../base/rewards.ts";
import { Segmented } from "../../ui/controls.tsx";
import { useResource } from "../../ui/resource.ts";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import type { RunProps } from "./context.ts";
import { byPrompt, meanReward, rewardScale } from "./sample_rows.ts";
import { Enlarged, Tile } from "./sample_tile.tsx";

const PURPOSES: Readonly<Record<SamplePurpose, string>> = {
  train: "Training",
  evaluate: "Held-out",
  request: "On request",
};

export function SamplesTab({ store, run }: RunProps) {
  const [purpose, setPurpose] = useState<SamplePurpose>("train");
  /** null: the newest batch, whichever that is. */
  const [chosen, setChosen] = useState<number | null>(null);
  const [enlarged, setEnlarged] = useState<Sample | null>(null);
  const answer = useResource(
    () => api.samples(run.id, purpose, chosen ?? undefined),
    [run.id, purpose, chosen, store.samplesVersions[purpose].value],
  );
  const batches = useMemo(() => [...(answer.value?.batches ?? [])].sort((a, b) => a - b), [answer.value]);
  const results = answer.value?.results ?? [];
  const newest = batches.at(-1);
  const shownBatch = chosen ?? newest;
  const samples = results.filter((sample) => sample.batch === shownBatch && sample.purpose === purpose);
  const index = shownBatch === undefined ? -1 : batches.indexOf(shownBatch);

  const choosePurpose = (value: SamplePurpose) => {
    setPurpose(value);
    setChosen(null);
  };
  const go = (to: number) => {
    const batch = batches[Math.min(Math.max(to, 0), batches.length - 1)];
    setChosen(batch === newest ? null : (batch ?? null));
  };
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (document.querySelector("dialog[open]") || isTyping(event.target)) return;
      if (event.key === "ArrowLeft") go(index - 1);
      else if (event.key === "ArrowRight") go(index + 1);
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [index, batches]);

  return (
    <section class="card" aria-label="Samples">
      <div class="row-between sample-tools">
        <Segmented
          label="Which samples"
          choices={samplePurposeValues.map((value) => ({ value, label: PURPOSES[value] }))}
          value={purpose}
          onChange={choosePurpose}
        />
        {batches.length > 0 && (
          <BatchSlider
            index={index}
            last={batches.length - 1}
            onGo={go}
            isNewest={chosen === null}
            label={`batch ${shownBatch}${samples[0] ? ` · v${samples[0].policy_version}` : ""}`}
            onNewest={() => setChosen(chosen === null ? (newest ?? null) : null)}
          />
        )}
      </div>
      {answer.error !== null && <Failed message={answer.error} onRetry={answer.reload} />}
      {answer.value === undefined && answer.error === null && <Loading />}
      {answer.value !== undefined && batches.length === 0 && (
        <Empty title="No samples of this kind yet">{WHY_EMPTY[purpose]}</Empty>
      )}
      {samples.length > 0 && (
        <SampleGrid samples={samples} verdict={watchedVerdicts(run.spec)[0]} onOpen={setEnlarged} />
      )}
      {enlarged && <Enlarged sample={enlarged} rewards={rewardsOf(run.spec)} onClose={() => setEnlarged(null)} />}
    </section>
  );
}

interface SliderProps {
  readonly index: number;
  readonly last: number;
  readonly label: string;
  readonly isNewest: boolean;
  readonly onGo: (index: number) => void;
  readonly onNewest: () => void;
}

function BatchSlider({ index, last, label, isNewest, onGo, onNewest }: SliderProps) {
  return (
    <div class="row batch-slider">
      <button
        type="button"
        class="button small"
        aria-label="Earlier batch"
        disabled={index <= 0}
        onClick={() => onGo(index - 1)}
      >
        ←
      </button>
      <input
        type="range"
        min={0}
        max={last}
        value={index}
        aria-label="Batch"
        aria-valuetext={label}
        onInput={(event) => onGo(Number(event.currentTarget.value))}
      />
      <button
        type="button"
        class="button small"
        aria-label="Later batch"
        disabled={index >= last}
        onClick={() => onGo(index + 1)}
      >
        →
      </button>
      <span class="small num">{label}</span>
      <label class="check">
        <input type="checkbox" checked={isNewest} onChange={onNewest} />
        Newest
      </label>
    </div>
  );
}

const WHY_EMPTY: Record<SamplePurpose, string> = {
  train: "Each batch shows some of the pictures it trains on, once they are scored.",
  evaluate: "Held-out pictures are drawn before training, on the evaluation cadence and at the end.",
  request: "Use “Sample now” while the run is live to draw pictures with the current policy.",
};

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement
  );
}

function SampleGrid(props: {
  samples: readonly Sample[];
  verdict: string | undefined;
  onOpen: (sample: Sample) => void;
}) {
  const rows = byPrompt(props.samples);
  const scale = rewardScale(props.samples);
  return (
    <div class="sample-rows">
      {[...rows.entries()].map(([prompt, members]) => {
        return (
          <div key={prompt} class="sample-row">
            <div class="sample-prompt">
              <span>{members[0]?.prompt}</span>
              <span class="tiny faint num">mean {number(meanReward(members))}</span>
            </div>
            <div class="tiles large">
              {members.map((sample) => (
                <Tile
                  key={`${sample.member}-${sample.seed}`}
                  sample={sample}
                  scale={scale}
                  verdict={props.verdict}
                  detailed
                  onOpen={props.onOpen}
                />
              ))}
            </div>
          </div>
        );
      })}
    </div>
  );
}
