/** Which prompts teach: how often each was drawn, how its rewards went, and what was lost of it. A prompt whose groups
 * have no spread costs their generation and moves nothing. */

import { useState } from "preact/hooks";
import { api, type PromptOrder } from "../../api/endpoints.ts";
import type { PromptAudit, PromptTotals, PromptVisit } from "../../api/schema.ts";
import { number, percent } from "../../base/format.ts";
import { useLiveResource } from "../../ui/resource.ts";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { Terms } from "../../ui/term.tsx";
import type { RunProps } from "./context.ts";

const ORDERS: Readonly<Record<PromptOrder, string>> = {
  without_spread: "least often with spread",
  repeated: "most often drawn again",
  missing: "most scores missing",
  lowest_reward: "lowest reward",
  prompt: "the order of the run",
};
const PAGE = 50;
/** As many as one answer may hold. */
const MAX_ROWS = 200;

export function PromptsTab({ store, run }: RunProps) {
  const [order, setOrder] = useState<PromptOrder>("without_spread");
  const [limit, setLimit] = useState(PAGE);
  const audit = useLiveResource(() => api.prompts(run.id, order, limit), [run.id, order, limit], store.metrics.version);
  const page = audit.value;
  return (
    <section class="card flush" aria-label="Prompts">
      <div class="card-head">
        <h2>Prompts</h2>
        <label class="row small muted">
          Order
          <select value={order} onChange={(event) => setOrder(event.currentTarget.value as PromptOrder)}>
            {Object.entries(ORDERS).map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        </label>
      </div>
      {audit.error !== null && <Failed message={audit.error} onRetry={audit.reload} />}
      {page === undefined && audit.error === null && <Loading />}
      {page && page.results.length === 0 && (
        <Empty title="No group is complete yet">
          Each prompt appears here once the rewards of its first group are in.
        </Empty>
      )}
      {page && page.results.length > 0 && (
        <>
          <Totals totals={page.totals} />
          <Rows prompts={page.results} />
          {page.next_offset !== null && <More limit={limit} onMore={() => setLimit(limit + PAGE)} />}
        </>
      )}
    </section>
  );
}

function Totals({ totals }: { totals: PromptTotals }) {
  const facts = [
    `${number(totals.num_groups)} groups of ${number(totals.num_prompts - totals.num_never_drawn)} prompts`,
    `${percent(totals.num_without_spread / totals.num_groups, 1)} of the groups without spread`,
    totals.num_never_varying > 0 && `${number(totals.num_never_varying)} prompts never varied, and taught nothing`,
    totals.num_never_drawn > 0 && `${number(totals.num_never_drawn)} not drawn yet`,
    totals.num_dropped_draws > 0 && `${number(totals.num_dropped_draws)} draws dropped`,
    totals.num_missing > 0 && `${number(totals.num_missing)} scores missing`,
    totals.num_repeated_fragments > 0 && `${number(totals.num_repeated_fragments)} fragments generated again`,
  ];
  return (
    <p class="prompt-totals small muted num">
      <Terms>{facts.filter((fact) => fact !== false).join(" · ")}</Terms>
    </p>
  );
}

function Rows({ prompts }: { prompts: readonly PromptAudit[] }) {
  const rewards = prompts.flatMap((one) => one.visits).flatMap(({ mean_reward }) => mean_reward ?? []);
  const range = { low: Math.min(0, ...rewards), high: Math.max(...rewards) };
  return (
    <div class="table-wrap" role="region" aria-label="Prompts and their groups" tabIndex={0}>
      <table class="prompts-table">
        <thead>
          <tr>
            <th>Prompt</th>
            <th>Reward of each group</th>
            <th class="right">Mean reward</th>
            <th class="right">Groups</th>
            <th class="right" title="Groups whose rewards are all equal: every advantage is 0.">
              Without spread
            </th>
            <th class="right" title="Draws that were dropped because the group had no spread (batch.max_resamples).">
              Draws dropped
            </th>
            <th class="right" title="Samples that lack a reward that is trained on.">
              Scores missing
            </th>
            <th class="right" title="Fragments generated once more, because their lane was lost.">
              Generated again
            </th>
          </tr>
        </thead>
        <tbody>
          {prompts.map((one) => (
            <tr key={one.prompt_index}>
              <td class="prompt-text" title={one.text}>
                <span class="num faint">{one.prompt_index}</span> {one.text}
              </td>
              <td>
                <Visits visits={one.visits} {...range} />
              </td>
              <td class="right num">{number(one.mean_reward)}</td>
              <td class="right num">{number(one.num_groups)}</td>
              <td class="right num">
                <Flat {...one} />
              </td>
              <Count value={one.num_dropped_draws} />
              <Count value={one.num_missing} />
              <Count value={one.num_repeated_fragments} />
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Flat({ num_without_spread: flat, num_groups }: PromptAudit) {
  if (flat === 0) return <span class="faint">0</span>;
  return (
    <>
      {number(flat)} <span class="faint">{percent(flat / num_groups)}</span>
    </>
  );
}

function Count({ value }: { value: number }) {
  return <td class={`right num ${value === 0 ? "faint" : ""}`}>{number(value)}</td>;
}

const [BAR, HEIGHT] = [4, 24];

/** One bar a group, as high as its mean reward; hollow where it has no spread. */
export function Visits({ visits, low, high }: { visits: readonly PromptVisit[]; low: number; high: number }) {
  const flat = visits.filter((visit) => !visit.has_spread).length;
  const size = (reward: number | null) =>
    reward === null ? 1 : Math.max(1, ((reward - low) / (high - low || 1)) * HEIGHT);
  const text = ({ batch, mean_reward, reward_std, has_spread }: PromptVisit) =>
    `Batch ${batch}: ${number(mean_reward)} ± ${number(reward_std)}${has_spread ? "" : ", without spread"}`;
  return (
    <svg
      class="visits"
      width={visits.length * BAR}
      height={HEIGHT}
      role="img"
      aria-label={`${visits.length} groups, ${flat} of them without spread`}
    >
      {visits.map((visit, index) => (
        <rect
          key={visit.batch}
          class={visit.has_spread ? "varied" : "flat"}
          x={index * BAR}
          y={HEIGHT - size(visit.mean_reward)}
          width={BAR - 1}
          height={size(visit.mean_reward)}
        >
          <title>{text(visit)}</title>
        </rect>
      ))}
    </svg>
  );
}

function More({ limit, onMore }: { limit: number; onMore: () => void }) {
  if (limit >= MAX_ROWS)
    return <p class="small faint prompt-totals">The first {MAX_ROWS} are listed; REST has all of them.</p>;
  return (
    <button type="button" class="button small prompt-more" onClick={onMore}>
      Show more
    </button>
  );
}
