/** Lends as a table: who lends what to whom, what was predicted and what came of it. */

import type { Lend } from "../../api/schema.ts";
import { clock, duration, number, unixSeconds } from "../../base/format.ts";
import { Term } from "../../ui/term.tsx";
import { gainText, lenderText, lentSeconds, returnText } from "./lend_words.ts";

interface Props {
  readonly lends: readonly Lend[];
  /** Server time, Unix seconds: open lends count until now. */
  readonly now: number;
  readonly selected?: string | null;
  /** Leave out the borrower: all lends are of one run. */
  readonly isOfOneRun?: boolean;
}

export function LendTable({ lends, now, selected = null, isOfOneRun = false }: Props) {
  return (
    <div class="table-wrap ledger">
      <table>
        <thead>
          <tr>
            <th>Since</th>
            <th>
              <Term word="lane">Lane</Term>
            </th>
            <th>Lender</th>
            {!isOfOneRun && <th>Borrower</th>}
            <th class="right">Lent for</th>
            <th class="right">Samples</th>
            <th class="right" title="Seconds of joining and leaving, or of switching roles">
              Switching
            </th>
            <th class="right" title="Seconds by which the borrower gets ahead, net of switching, by this lane">
              Predicted
            </th>
            <th class="right">Realised</th>
            <th class="right" title="Seconds of a batch: predicted before → with, measured before → with">
              Batch
            </th>
            <th>Given back</th>
          </tr>
        </thead>
        <tbody>
          {lends.map((lend) => (
            <tr key={lend.id} class={lend.id === selected ? "selected" : ""} id={`lend-${lend.id}`} title={lend.reason}>
              <td class="nowrap num">{clock(unixSeconds(lend.begin))}</td>
              <td class="nowrap">
                {lend.lane || lend.lane_in_run} <span class="faint small">{lend.role}</span>
              </td>
              <td class="nowrap">{lenderText(lend)}</td>
              {!isOfOneRun && <td>{lend.run ? <a href={`/runs/${lend.run}`}>{lend.run_name}</a> : lend.run_name}</td>}
              <td class="right num nowrap">
                {duration(lentSeconds(lend, now))}
                {lend.end === null && <span class="faint"> so far</span>}
              </td>
              <td class="right num">{number(lend.num_samples)}</td>
              <td class="right num nowrap">{duration(lend.switch_seconds)}</td>
              <td class="right num nowrap">
                <Gain seconds={lend.predicted_gain_seconds} isPredicted />
                {lend.least_gain_seconds !== null && (
                  <span class="faint" title="The threshold when it was lent: for less it would not have been">
                    {" "}
                    ≥ {duration(lend.least_gain_seconds)}
                  </span>
                )}
              </td>
              <td class="right num nowrap">
                <Gain seconds={lend.realised_gain_seconds} />
              </td>
              <td class="right num nowrap">
                <Batches {...lend} />
              </td>
              <td title={lend.end_reason}>{returnText(lend)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Gain({ seconds, isPredicted = false }: { seconds: number | null; isPredicted?: boolean }) {
  if (seconds === null) return <span class="faint">{isPredicted ? "not predicted" : "not known"}</span>;
  return <span class={isPredicted ? "" : seconds < 0 ? "down" : "up"}>{gainText(seconds)}</span>;
}

function Batches(lend: Lend) {
  const predicted = change(lend.predicted_batch_seconds_before, lend.predicted_batch_seconds);
  const measured = change(lend.measured_batch_seconds_before, lend.measured_batch_seconds);
  if (predicted === null && measured === null) return <span class="faint">–</span>;
  return (
    <>
      <span class="faint">{predicted ?? "not predicted"}</span>
      <br />
      {measured ?? (lend.end === null ? "not measured yet" : "not measured")}
    </>
  );
}

function change(before: number | null, after: number | null): string | null {
  return before === null || after === null ? null : `${duration(before)} → ${duration(after)}`;
}
