/** The run's recorded work under other settings: first how far a replay of what happened is off, then what would have
 * been different. */

import { useEffect, useMemo, useState } from "preact/hooks";
import { messageOf } from "../../api/client.ts";
import { api } from "../../api/endpoints.ts";
import type { Replay, Run } from "../../api/schema.ts";
import { duration, percent } from "../../base/format.ts";
import { rerunWith } from "../../base/rerun.ts";
import { classLabel, parseClass } from "../../timeline/classes.ts";
import { Timeline } from "../../timeline/timeline.tsx";
import { Empty, Failed } from "../../ui/states.tsx";
import type { RunProps } from "../run/context.ts";
import { LeadChart } from "./lead_chart.tsx";
import { linked, replayTimelines } from "./replay_timeline.ts";
import {
  AS_IT_WAS,
  type Chosen,
  changedSettings,
  changedTime,
  changeOf,
  changeText,
  classRows,
  errorText,
  isBeyondError,
  requestOf,
} from "./replay_words.ts";
import { LABELS, SettingChoices } from "./setting_choices.tsx";

export function ReplayTab({ run }: RunProps) {
  const [chosen, setChosen] = useState<Chosen>(AS_IT_WAS);
  const [answer, setAnswer] = useState<{ replay: Replay; asked: Chosen } | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const start = async () => {
    setBusy(true);
    try {
      setAnswer({ replay: await api.replay(run.id, requestOf(chosen)), asked: chosen });
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
        {answer ? (
          <Answer run={run} {...answer} />
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

interface AnswerProps {
  readonly run: Run;
  readonly replay: Replay;
  readonly asked: Chosen;
}

function Answer(props: AnswerProps) {
  const { replay } = props;
  return (
    <>
      <Verdict {...props} />
      <LeadChart replay={replay} />
      <Schedules replay={replay} />
      <LaneTime replay={replay} />
    </>
  );
}

/** One below the other, on one axis: what moves one moves both. */
function Schedules({ replay }: { replay: Replay }) {
  const timelines = useMemo(() => replayTimelines(replay), [replay]);
  useEffect(() => linked(timelines), [timelines]);
  const note = `${replay.num_batches_drawn} of ${replay.num_batches} batches, both on one axis`;
  return (
    <>
      {(
        [
          ["As it ran", timelines.ran],
          ["Replayed as chosen", timelines.replayed],
        ] as const
      ).map(([title, state]) => (
        <section key={title} class="card" aria-label={title}>
          <div class="card-head">
            <h2>{title}</h2>
            <span class="tiny faint">{note}</span>
          </div>
          <Timeline state={state} hasHelp={state === timelines.replayed} />
        </section>
      ))}
    </>
  );
}

function Verdict({ run, replay, asked }: AnswerProps) {
  const change = changeOf(replay);
  const { measured, own, chosen, errors, num_batches, first_batch } = replay;
  const isSure = isBeyondError(replay);
  const isFaster = change < 0;
  const perBatch = (seconds: number) => duration(seconds / num_batches);
  return (
    <section class="card stack-s" aria-label="Result">
      <p>
        <b>Replayed as it ran: {errorText(errors.recorded)}.</b>{" "}
        <span class="muted">
          With average costs instead of each piece's own seconds: {errorText(errors.costs)}. Batches {first_batch} to{" "}
          {first_batch + num_batches - 1}.
        </span>
      </p>
      <Changes run={run} replay={replay} asked={asked} />
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
        {replay.chosen_range && (
          <Figure
            label="As the profile allows"
            text={`${perBatch(replay.chosen_range.least)} to ${perBatch(replay.chosen_range.most)}`}
            note="the device as fast and as slow as its sources say"
          />
        )}
      </dl>
      {replay.warnings.map((warning) => (
        <p key={warning} class="notice warn small">
          {warning}
        </p>
      ))}
      <a class="button primary" href="/runs/new" onClick={(event) => openForm(event, run.id, replay)}>
        Rerun with these settings…
      </a>
    </section>
  );
}

/** What was changed, and what changes most by it, in words. */
function Changes({ run, replay, asked }: AnswerProps) {
  const settings = changedSettings(asked, run.spec, LABELS);
  const time = changedTime(replay);
  if (settings.length === 0) return <p class="small muted">Nothing was changed: this is the run as it was.</p>;
  return (
    <p class="small">
      {settings.join("; ")}.{" "}
      {time.length > 0 ? `Lane time of a batch: ${time.join(", ")}.` : "Lane time hardly changes by it."}
    </p>
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
