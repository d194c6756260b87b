/** Lends summed over projects, runs, lanes or GPUs. */

import { useState } from "preact/hooks";
import { api, type LendFilter } from "../../api/endpoints.ts";
import type { LendSum } from "../../api/schema.ts";
import { duration, number } from "../../base/format.ts";
import { Segmented } from "../../ui/controls.tsx";
import { useResource } from "../../ui/resource.ts";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { gainText } from "./lend_words.ts";

const BY = [
  { value: "borrower", label: "Borrower" },
  { value: "lender", label: "Lender" },
  { value: "run", label: "Run" },
  { value: "lane", label: "Lane" },
  { value: "gpu", label: "GPU" },
] as const;

type By = (typeof BY)[number]["value"];

/** `filter` is another object when the sums are to be read again. */
export function LendSums({ filter }: { filter: LendFilter }) {
  const [by, setBy] = useState<By>("borrower");
  const sums = useResource(() => api.lendSums(filter, by), [by, filter]);
  return (
    <section class="card flush" aria-label="Totals">
      <div class="card-head">
        <h2>Totals</h2>
        <Segmented label="Sum up by" choices={BY} value={by} onChange={setBy} />
      </div>
      {sums.error !== null && <Failed message={sums.error} onRetry={sums.reload} />}
      {!sums.value && sums.error === null && <Loading label="Loading totals" />}
      {sums.value && (sums.value.length > 0 ? <SumTable sums={sums.value} /> : <Empty title="Nothing to sum up" />)}
    </section>
  );
}

export function SumTable({ sums }: { sums: readonly LendSum[] }) {
  return (
    <div class="table-wrap">
      <table>
        <thead>
          <tr>
            <th>Name</th>
            <th class="right">Lends</th>
            <th class="right">Lent for</th>
            <th class="right">Samples</th>
            <th class="right">Switching</th>
            <th class="right" title="The longest time from notice to return">
              Given back within
            </th>
            <th class="right">Drawn again</th>
            <th class="right" title="Over the lends that have both">
              Predicted → realised
            </th>
          </tr>
        </thead>
        <tbody>
          {sums.map((sum) => (
            <tr key={sum.key}>
              <td>{sum.name || "the pool"}</td>
              <td class="right num">{number(sum.num_lends)}</td>
              <td class="right num nowrap">{duration(sum.lent_seconds)}</td>
              <td class="right num">{number(sum.num_samples)}</td>
              <td class="right num nowrap">{duration(sum.switch_seconds)}</td>
              <td class="right num nowrap">
                {sum.num_returned > 0 ? `${duration(sum.max_return_seconds)} (${sum.num_returned})` : "–"}
              </td>
              <td class="right num">{number(sum.num_dropped)}</td>
              <td class="right num nowrap">
                {sum.num_graded > 0
                  ? `${gainText(sum.predicted_gain_seconds)} → ${gainText(sum.realised_gain_seconds)}`
                  : "–"}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
