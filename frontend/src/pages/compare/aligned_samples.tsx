/** Held-out samples of the same batch, prompt and member across the runs; full size side by side. */

import { useEffect, useState } from "preact/hooks";
import { api } from "../../api/endpoints.ts";
import type { Sample } from "../../api/schema.ts";
import { number } from "../../base/format.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { useResource } from "../../ui/resource.ts";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { Player } from "../run/media.tsx";
import { rewardScale } from "../run/sample_rows.ts";
import { Tile } from "../run/sample_tile.tsx";
import { alignedByPrompt, type ComparedRun } from "./compared_run.ts";
import { RunsHead } from "./run_label.tsx";

/** Prompts shown, and members of each; the runs' own pages have all of them. */
const [MAX_PROMPTS, MAX_MEMBERS] = [12, 4];

interface Drawn {
  readonly batches: readonly number[];
  readonly results: readonly Sample[];
}

/** The batches at which all of the runs were evaluated, else at which any was. */
export function commonBatches(drawn: readonly Pick<Drawn, "batches">[]): number[] {
  const all = [...new Set(drawn.flatMap(({ batches }) => batches))].sort((a, b) => a - b);
  const common = all.filter((batch) => drawn.every(({ batches }) => batches.includes(batch)));
  return common.length > 0 ? common : all;
}

export function AlignedSamples({ runs }: { runs: readonly ComparedRun[] }) {
  const ids = runs.map(({ run }) => run.id);
  const [batch, setBatch] = useState<number | null>(null);
  const evaluated = runs.map(({ run }) => run.headline.batch_after).join();
  const newest = useResource(() => readNewest(ids), [ids.join(), evaluated]);
  const batches = commonBatches(ids.flatMap((id) => newest.value?.get(id) ?? []));
  const shown = batch !== null && batches.includes(batch) ? batch : batches.at(-1);
  // What is looked at stays when a run that goes on is evaluated again.
  useEffect(() => setBatch(shown ?? null), [shown]);
  const drawn = useResource(() => readBatch(ids, newest.value, shown), [ids.join(), shown, newest.value]);
  const samples = samplesOf(ids, shown, drawn.value);
  const error = newest.error ?? drawn.error;
  return (
    <section class="card" aria-label="Held-out samples">
      <div class="card-head">
        <h2>Held-out samples</h2>
        <span class="tiny faint">same prompt and member; runs of one seed begin from the same noise</span>
        {shown !== undefined && batches.length > 1 && (
          <BatchChoice batches={batches} shown={shown} onChoose={setBatch} />
        )}
      </div>
      {error !== null && <Failed message={error} onRetry={newest.reload} />}
      {newest.value === undefined && newest.error === null && <Loading />}
      {newest.value && shown === undefined && <Empty title="None of these runs has been evaluated yet" />}
      {shown !== undefined && (samples ? <Grid runs={runs} samples={samples} /> : error === null && <Loading />)}
    </section>
  );
}

/** By the run's id: an answer may come when other runs are shown than those it was asked for. */
type ByRun<T> = ReadonlyMap<string, T>;

async function readNewest(ids: readonly string[]): Promise<ByRun<Drawn>> {
  return new Map(await Promise.all(ids.map(async (id) => [id, await api.samples(id, "evaluate")] as const)));
}

export interface DrawnBatch {
  readonly batch: number | undefined;
  readonly of: ByRun<readonly Sample[]>;
}

/** One request a run, and none for a run whose newest evaluation is the one asked for. */
async function readBatch(
  ids: readonly string[],
  newest: ByRun<Drawn> | undefined,
  batch: number | undefined,
): Promise<DrawnBatch> {
  const read = async (id: string): Promise<readonly (readonly [string, readonly Sample[]])[]> => {
    const known = newest?.get(id);
    if (!known || batch === undefined) return [];
    if (!known.batches.includes(batch)) return [[id, []]];
    return [[id, known.batches.at(-1) === batch ? known.results : (await api.samples(id, "evaluate", batch)).results]];
  };
  return { batch, of: new Map((await Promise.all(ids.map(read))).flat()) };
}

/** The samples of each run in the runs' order; null until those of all of them at this batch were read. */
export function samplesOf(
  ids: readonly string[],
  batch: number | undefined,
  drawn: DrawnBatch | undefined,
): (readonly Sample[])[] | null {
  if (!drawn || drawn.batch !== batch || !ids.every((id) => drawn.of.has(id))) return null;
  return ids.map((id) => drawn.of.get(id) ?? []);
}

function BatchChoice(props: { batches: readonly number[]; shown: number; onChoose: (batch: number) => void }) {
  const { batches, shown } = props;
  const newest = batches.at(-1) ?? shown;
  const [index, setIndex] = useState(batches.indexOf(shown));
  useEffect(() => setIndex(batches.indexOf(shown)), [batches.join(), shown]);
  return (
    <label class="row small batch-slider compare-against">
      Batch
      <input
        type="range"
        min={0}
        max={batches.length - 1}
        value={index}
        aria-valuetext={`batch ${batches[index]}`}
        onInput={(event) => setIndex(Number(event.currentTarget.value))}
        onChange={(event) => props.onChoose(batches[Number(event.currentTarget.value)] ?? shown)}
      />
      <span class="num">{batches[index]}</span>
      {shown !== newest && (
        <button type="button" class="button small" onClick={() => props.onChoose(newest)}>
          Newest: {newest}
        </button>
      )}
    </label>
  );
}

type Cells = readonly (readonly Sample[])[];

function Grid({ runs, samples }: { runs: readonly ComparedRun[]; samples: Cells }) {
  const [opened, setOpened] = useState<{ cells: Cells; member: number } | null>(null);
  const rows = alignedByPrompt(samples);
  const scale = rewardScale(samples.flat());
  return (
    <>
      <div class="table-wrap" tabIndex={0} role="region" aria-label="Samples of each run">
        <table class="sample-table">
          <RunsHead of="Prompt" runs={runs} />
          <tbody>
            {rows.slice(0, MAX_PROMPTS).map(([prompt, cells]) => (
              <tr key={prompt}>
                <td>{prompt}</td>
                {cells.map((cell, index) => (
                  <td key={runs[index]?.run.id}>
                    <div class="tiles">
                      {cell.slice(0, MAX_MEMBERS).map((sample) => (
                        <Tile
                          key={sample.member}
                          sample={sample}
                          scale={scale}
                          onOpen={() => setOpened({ cells, member: sample.member })}
                        />
                      ))}
                      {cell.length === 0 && <span class="tiny faint">not drawn</span>}
                    </div>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > MAX_PROMPTS && (
        <p class="tiny faint">{rows.length - MAX_PROMPTS} more prompts on the runs' own pages.</p>
      )}
      {opened && <SideBySide runs={runs} {...opened} onClose={() => setOpened(null)} />}
    </>
  );
}

/** One prompt and member in every run, as large as the window allows; ← and → go through the members. */
function SideBySide(props: { runs: readonly ComparedRun[]; cells: Cells; member: number; onClose: () => void }) {
  const members = [...new Set(props.cells.flat().map(({ member }) => member))].sort((a, b) => a - b);
  const [member, setMember] = useState(props.member);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
      if (by !== 0) setMember((now) => members[members.indexOf(now) + by] ?? now);
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [members.join()]);
  const prompt = props.cells.flat()[0]?.prompt ?? "";
  return (
    <Dialog title={prompt} wide onClose={props.onClose}>
      <p class="small muted num">
        Member {member}, one of {members.length}; ← and → show the others.
      </p>
      <div class="compare-large">
        {props.runs.map(({ run, colour }, index) => {
          const sample = props.cells[index]?.find((one) => one.member === member);
          return (
            <figure key={run.id} style={{ borderTopColor: `var(${colour})` }}>
              {sample ? (
                <Player sample={sample} alt={`${run.name}: ${prompt}, member ${member}`} />
              ) : (
                <span class="small faint">not drawn</span>
              )}
              <figcaption class="small">
                <span class="truncate">{run.name}</span>
                {sample && <b class="num">{number(sample.reward)}</b>}
              </figcaption>
            </figure>
          );
        })}
      </div>
    </Dialog>
  );
}
