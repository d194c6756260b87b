/** The run's recorded work under other settings: first how far a replay of what happened is off, then what would have
 * been different. */

import { useMemo, useState } from "preact/hooks";
import { messageOf } from "../../api/client.ts";
import { api } from "../../api/endpoints.ts";
import type { Replay } from "../../api/schema.ts";
import { duration, percent } from "../../base/format.ts";
import { rerunWith } from "../../base/rerun.ts";
import { classLabel, parseClass } from "../../timeline/classes.ts";
import { Timeline } from "../../timeline/timeline.tsx";
import { Empty, Failed } from "../../ui/states.tsx";
import type { RunProps } from "../run/context.ts";
import { scheduleTimeline } from "./replay_timeline.ts";
import { AS_IT_WAS, type Chosen, changeOf, classRows, errorText, isBeyondError, requestOf } from "./replay_words.ts";
import { SettingChoices } from "./setting_choices.tsx";

export function ReplayTab({ run }: RunProps) {
  const [chosen, setChosen] = useState<Chosen>(AS_IT_WAS);
  const [replay, setReplay] = useState<Replay | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const start = async () => {
    setBusy(true);
    try {
      setReplay(await api.replay(run.id, requestOf(chosen)));
      setProblem(null);
    } catch (error) {
      setProblem(messageOf(error));
    }
    setBusy(false);
  };
  return (
    <div class="replay">
      <SettingChoices run={run} chosen={chosen} onChoose={setChosen} isBusy={isBusy} onReplay={() => void start()} />
      <div class="stack replay-answer" aria-busy={isBusy} aria-live="polite">
        {problem !== null && <Failed message={problem} onRetry={() => void start()} />}
        {replay ? (
          <Answer runId={run.id} replay={replay} />
        ) : (
          problem === null && (
            <Empty title="What if it had been scheduled otherwise?">
              A replay gives each piece of the run's work the seconds that it really took and lets the scheduler decide
              anew. It first replays the run as it was, and shows how far that is off.
            </Empty>
          )
        )}
      </div>
    </div>
  );
}

function Answer({ runId, replay }: { runId: string; replay: Replay }) {
  const timeline = useMemo(() => scheduleTimeline(replay), [replay]);
  return (
    <>
      <Verdict runId={runId} replay={replay} />
      <section class="card" aria-label="Schedules">
        <div class="card-head">
          <h2>As it ran, and replayed</h2>
          <span class="tiny faint">
            {replay.num_batches_drawn} of {replay.num_batches} batches, on one axis
          </span>
        </div>
        <Timeline state={timeline} />
      </section>
      <LaneTime replay={replay} />
    </>
  );
}

function Verdict({ runId, replay }: { runId: string; replay: Replay }) {
  const change = changeOf(replay);
  const { measured, own, chosen, errors, num_batches, first_batch } = replay;
  const isSure = isBeyondError(replay);
  const isFaster = change < 0;
  const perBatch = (seconds: number) => duration(seconds / num_batches);
  return (
    <section class="card" aria-label="Result">
      <p>
        <b>Replayed as it ran: {errorText(errors.recorded)}.</b>{" "}
        <span class="muted">
          With average costs instead of each piece's own seconds: {errorText(errors.costs)}. Batches {first_batch} to{" "}
          {first_batch + num_batches - 1}.
        </span>
      </p>
      <dl class="replay-figures">
        <Figure label="Measured" text={perBatch(measured.seconds)} note="seconds of a batch" />
        <Figure label="Replayed as it ran" text={perBatch(own.seconds)} note={errorText(errors.recorded)} />
        <Figure
          label="Replayed as chosen"
          text={perBatch(chosen.seconds)}
          note={
            isSure
              ? `${percent(Math.abs(change), 1)} ${isFaster ? "faster" : "slower"} than as it ran`
              : `${percent(Math.abs(change), 1)} ${isFaster ? "faster" : "slower"}: no more than the error`
          }
          tone={isSure ? (isFaster ? "up" : "down") : ""}
        />
      </dl>
      {replay.warnings.map((warning) => (
        <p key={warning} class="notice warn small">
          {warning}
        </p>
      ))}
      <a class="button primary" href="/runs/new" onClick={(event) => openForm(event, runId, replay)}>
        Rerun with these settings…
      </a>
    </section>
  );
}

function openForm(event: Event, runId: string, { spec }: Replay): void {
  event.preventDefault();
  location.assign(rerunWith(runId, spec));
}

function Figure(props: { label: string; text: string; note: string; tone?: string }) {
  return (
    <div>
      <dt class="tiny muted">{props.label}</dt>
      <dd class="num">{props.text}</dd>
      <dd class={`tiny ${props.tone || "muted"}`}>{props.note}</dd>
    </div>
  );
}

function LaneTime({ replay }: { replay: Replay }) {
  return (
    <section class="card flush" aria-label="Lane time of a batch">
      <div class="card-head">
        <h2>Lane time of a batch</h2>
        <span class="tiny faint">all lanes together; what changes most comes first</span>
      </div>
      <div class="table-wrap">
        <table>
          <thead>
            <tr>
              <th>Class</th>
              <th class="right">Measured</th>
              <th class="right">As it ran</th>
              <th class="right">As chosen</th>
              <th class="right">Change</th>
            </tr>
          </thead>
          <tbody>
            {classRows(replay).map((row) => (
              <tr key={row.name}>
                <td>
                  <i class="swatch" style={{ "--swatch": `var(${parseClass(row.name).known.colour})` }} />{" "}
                  {classLabel(row.name)}
                </td>
                <td class="right num">{duration(row.measured)}</td>
                <td class="right num">{duration(row.own)}</td>
                <td class="right num">{duration(row.chosen)}</td>
                <td class="right num">{changeText(row.chosen - row.own)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function changeText(seconds: number): string {
  if (Math.abs(seconds) < 0.005) return "–";
  return `${seconds > 0 ? "+" : "−"}${duration(Math.abs(seconds))}`;
}
