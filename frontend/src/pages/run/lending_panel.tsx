/** The lending ledger: each decision to let trainer lanes generate, its predicted gain and its realised one. */

import { api } from "../../api/endpoints.ts";
import type { LedgerEntry, LendDecision, LendingTotals } from "../../api/schema.ts";
import { clock, duration, number } from "../../base/format.ts";
import { useLiveResource } from "../../ui/resource.ts";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { Term } from "../../ui/term.tsx";
import type { RunProps } from "./context.ts";

export function LendingPanel({ store, run }: RunProps) {
  const lending = useLiveResource(() => api.lending(run.id), [run.id], store.timeline.version);
  const answer = lending.value;
  return (
    <section class="card flush" aria-label="Lending">
      <div class="card-head">
        <h2>
          <Term word="lend">Lending</Term>
        </h2>
        {answer && <Totals totals={answer.totals} />}
      </div>
      {lending.error !== null && <Failed message={lending.error} onRetry={lending.reload} />}
      {!answer && lending.error === null && <Loading />}
      {answer &&
        (answer.decisions.length > 0 ? <Ledger decisions={answer.decisions} /> : <Nothing {...{ store, run }} />)}
    </section>
  );
}

function Nothing({ run }: RunProps) {
  const placement = run.spec.pipeline.placement;
  if (placement === "colocated") {
    return <Empty title="Nothing to lend">Each colocated lane generates, then trains: that takes no decision.</Empty>;
  }
  return placement === "disaggregated" && run.spec.pipeline.tag === "off" ? (
    <Empty title="Lending is off">With pipeline.tag at greedy or search, idle trainer lanes generate too.</Empty>
  ) : (
    <Empty title="No decision">
      Trainer lanes are asked when they idle while fragments wait; colocated ones never are.
    </Empty>
  );
}

function Totals({ totals }: { totals: LendingTotals }) {
  const facts = [`${number(totals.num_decisions)} decision${totals.num_decisions === 1 ? "" : "s"}`];
  if (totals.num_lent_fragments > 0) {
    facts.push(`${number(totals.num_lent_samples)} samples in ${duration(totals.lent_seconds)} on loan`);
    facts.push(`${duration(totals.switch_seconds)} of switching`);
  }
  const { mean_predicted_gain_seconds: predicted, mean_realised_gain_seconds: realised } = totals;
  if (predicted !== null && realised !== null)
    facts.push(`a decision predicts ${gain(predicted)} and brings ${gain(realised)} on average`);
  return <span class="small muted num">{facts.join(" · ")}</span>;
}

function gain(seconds: number): string {
  return `${seconds < 0 ? "−" : "+"}${duration(Math.abs(seconds))}`;
}

function Ledger({ decisions }: { decisions: readonly LedgerEntry[] }) {
  return (
    <div class="table-wrap ledger">
      <table>
        <thead>
          <tr>
            <th>Decided</th>
            <th class="right">
              <Term word="batch">Batch</Term>
            </th>
            <th>
              <Term word="lane">Lanes</Term>
            </th>
            <th class="right">
              <Term word="fragment">Fragments</Term>
            </th>
            <th class="right">Predicted gain</th>
            <th class="right">Realised gain</th>
          </tr>
        </thead>
        <tbody>
          {decisions.map((one) => (
            <tr key={`${one.attempt}-${one.at}-${one.decision}`}>
              <td class="nowrap">
                <span class="num faint">{one.decision}</span> {clock(one.at)}
              </td>
              <td class="right num">{one.batch}</td>
              <td class="nowrap">
                {one.lanes.length > 3 ? `${one.lanes.length} lanes` : one.lanes.toSorted().join(", ")}
              </td>
              <td class="right num nowrap">
                <Fragments {...one} />
              </td>
              <td class="right num">
                {one.predicted_gain_seconds === null ? (
                  <span class="faint">not predicted</span>
                ) : (
                  gain(one.predicted_gain_seconds)
                )}
                <Threshold {...one} />
              </td>
              <td class="right num">
                <Realised {...one} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** What the policy asked of a decision at that time. */
function Threshold({ least_gain_seconds: least }: LendDecision) {
  if (least === null) return null;
  return (
    <span class="faint" title="The policy's threshold when it decided: for less it would not have lent">
      {" "}
      of at least {duration(least)}
    </span>
  );
}

/** Fragments generated, of those that all lanes together were allowed. */
function Fragments({ num_generated: made, num_fragments, lanes }: LedgerEntry) {
  const allowed = num_fragments * lanes.length;
  if (made >= allowed) return <>{made}</>;
  return (
    <span title="The loan ended early, or is still open: training work calls lanes back, and no fragment may be left.">
      {made} <span class="faint">of {allowed}</span>
    </span>
  );
}

function Realised({ realised_gain_seconds: realised, predicted_gain_seconds: predicted }: LendDecision) {
  if (realised !== null) return <span class={realised < 0 ? "down" : "up"}>{gain(realised)}</span>;
  return <span class="faint">{predicted === null ? "–" : "open"}</span>;
}
