/** Pictures or clips of one batch as a grid of prompt × member, with what is known of each and of its whole group; ← and →
 * change the batch. */

import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { api } from "../../api/endpoints.ts";
import { type Sample, type SamplePurpose, samplePurposeValues } from "../../api/schema.ts";
import { rewardsOf, watchedVerdicts } from "../../base/rewards.ts";
import { Segmented } from "../../ui/controls.tsx";
import { useResource } from "../../ui/resource.ts";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { Terms } from "../../ui/term.tsx";
import { BatchReader } from "./batch_reader.ts";
import { BatchSlider } from "./batch_slider.tsx";
import type { RunProps } from "./context.ts";
import { coverageText } from "./sample_facts.ts";
import { SampleGrid } from "./sample_grid.tsx";
import { type RowChoice, rowsOf, type SampleRow } from "./sample_rows.ts";
import { Enlarged } from "./sample_tile.tsx";

const PURPOSES: Readonly<Record<SamplePurpose, string>> = {
  train: "Training",
  evaluate: "Held-out",
  request: "On request",
};

const CHOICES: Readonly<Record<RowChoice, string>> = {
  all: "Prompts in batch order",
  best: "Best mean first",
  worst: "Worst mean first",
  zero_spread: "Zero spread only",
};

export function SamplesTab({ store, run }: RunProps) {
  const [purpose, setPurpose] = useState<SamplePurpose>("train");
  return (
    <section class="card" aria-label="Samples">
      <Batches
        key={purpose}
        store={store}
        run={run}
        purpose={purpose}
        picker={
          <Segmented
            label="Which samples"
            choices={samplePurposeValues.map((value) => ({ value, label: PURPOSES[value] }))}
            value={purpose}
            onChange={setPurpose}
          />
        }
      />
    </section>
  );
}

/** The batches that have samples of one purpose. */
function Batches({ store, run, purpose, picker }: RunProps & { purpose: SamplePurpose; picker: ComponentChildren }) {
  /** null: the newest batch, whichever that is. */
  const [chosen, setChosen] = useState<number | null>(null);
  const [choice, setChoice] = useState<RowChoice>("all");
  const [enlarged, setEnlarged] = useState<Sample | null>(null);
  const reader = useMemo(() => new BatchReader((batch) => api.samples(run.id, purpose, batch)), [run.id, purpose]);
  useEffect(() => reader.show(chosen), [reader, chosen]);
  useEffect(() => reader.refresh(), [reader, store.samplesVersions[purpose].value]);
  const answer = reader.shown.value;
  const error = reader.error.value;
  const batches = useMemo(() => [...(answer?.batches ?? [])].sort((a, b) => a - b), [answer?.batches]);
  const batch = chosen ?? batches.at(-1);
  const index = batch === undefined ? -1 : batches.indexOf(batch);
  const samples = answer?.results ?? [];
  const rows = rowsOf(samples, answer?.groups, choice);
  const go = (to: number) => {
    const next = Math.min(Math.max(to, 0), batches.length - 1);
    setChosen(next === batches.length - 1 ? null : (batches[next] ?? null));
  };
  useArrowKeys((by) => go(index + by), [index, batches]);
  return (
    <>
      <div class="row-between sample-tools">
        {picker}
        {batches.length > 0 && (
          <BatchSlider
            index={index}
            last={batches.length - 1}
            onGo={go}
            isNewest={chosen === null}
            isShown={samples[0]?.batch === batch}
            label={`batch ${batch}${samples[0]?.batch === batch ? ` · v${samples[0]?.policy_version}` : ""}`}
            onNewest={() => setChosen(chosen === null ? (batches.at(-1) ?? null) : null)}
          />
        )}
      </div>
      {error !== null && <Failed message={error} onRetry={() => reader.refresh()} />}
      {answer === undefined && error === null && <Loading />}
      {answer !== undefined && batches.length === 0 && (
        <Empty title="No samples of this kind yet">
          {purpose === "train" && run.spec.stored_samples.num_per_batch === 0 ? NONE_STORED : WHY_EMPTY[purpose]}
        </Empty>
      )}
      {samples.length > 0 && (
        <>
          <div class="row-between sample-summary small">
            <span class="muted num">
              <Terms>{coverageText(rowsOf(samples, answer?.groups), sizeOf(run))}</Terms>
            </span>
            <RowChoiceSelect choice={choice} hasGroups={purpose === "train"} onChoose={setChoice} />
          </div>
          {rows.length === 0 && <Empty title="Every group of this batch has spread" />}
          <SampleGrid rows={rows} verdict={watchedVerdicts(run.spec)[0]} onOpen={setEnlarged} />
        </>
      )}
      {enlarged && (
        <EnlargedInGrid run={run} sample={enlarged} rows={rows} batches={batches} onClose={() => setEnlarged(null)} />
      )}
    </>
  );
}

/** Calls `move` with ±1 on ← and →, but for keys that are meant for a field or a dialog. */
function useArrowKeys(move: (by: number) => void, dependencies: readonly unknown[]): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (document.querySelector("dialog[open]") || isTyping(event.target)) return;
      if (event.key === "ArrowLeft") move(-1);
      else if (event.key === "ArrowRight") move(1);
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, dependencies);
}

const sizeOf = ({ algebra, spec }: RunProps["run"]) => ({
  ...algebra,
  num_held_out: spec.evaluation.num_samples_per_prompt,
});

const NONE_STORED = "This run stores no training samples: stored_samples.num_per_batch is 0.";

const WHY_EMPTY: Record<SamplePurpose, string> = {
  train: "Each batch shows the samples that are stored of it, once they are scored.",
  evaluate: "Held-out pictures are drawn before training, on the evaluation cadence and at the end.",
  request: "Use “Sample now” while the run is live to draw pictures with the current policy.",
};

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement
  );
}

function RowChoiceSelect(props: { choice: RowChoice; hasGroups: boolean; onChoose: (choice: RowChoice) => void }) {
  return (
    <select
      class="row-choice"
      aria-label="Which prompts, in which order"
      value={props.choice}
      onChange={(event) => props.onChoose(event.currentTarget.value as RowChoice)}
    >
      {Object.entries(CHOICES)
        .filter(([value]) => props.hasGroups || value !== "zero_spread")
        .map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
    </select>
  );
}

/** A sample at full size; held-out ones over those of the first evaluation, which are drawn from the same noise. */
function EnlargedInGrid(props: {
  run: RunProps["run"];
  sample: Sample;
  rows: readonly SampleRow[];
  batches: readonly number[];
  onClose: () => void;
}) {
  const { run, sample, rows, batches } = props;
  const [first] = batches;
  const hasBase = sample.purpose === "evaluate" && sample.batch !== first;
  const bases = useResource(
    async () => (hasBase ? (await api.samples(run.id, "evaluate", first)).results : []),
    [run.id, hasBase, first],
  );
  return (
    <Enlarged
      sample={sample}
      rewards={rewardsOf(run.spec)}
      rows={rows.map((row) => row.samples)}
      groups={rows.flatMap(({ group }) => group ?? [])}
      bases={bases.value ?? []}
      onClose={props.onClose}
    />
  );
}
