/** The budgets of projects: what is spent of them, and for pool admins a form to set one. */

import type { TargetedSubmitEvent } from "preact";
import { useState } from "preact/hooks";
import { api } from "../../api/endpoints.ts";
import type { Budget, BudgetToSet } from "../../api/schema.ts";
import { MeterRow } from "../../ui/meter_row.tsx";
import { useResource } from "../../ui/resource.ts";
import { Failed } from "../../ui/states.tsx";
import { attempt } from "../../ui/toasts.tsx";
import { PERIODS, spentShare, spentText, stateText, UNITS, WHEN_SPENT } from "./budget_words.ts";

export function Budgets() {
  const budgets = useResource(() => api.budgets(), []);
  const me = useResource(() => api.me(), []);
  const maySet = me.value !== undefined && (me.value.is_pool_admin || me.value.is_superuser);
  const rows = budgets.value ?? [];
  if (budgets.error !== null) return <Failed message={budgets.error} onRetry={budgets.reload} />;
  if (rows.length === 0 && !maySet) return null;
  return (
    <section class="card" aria-label="Budgets">
      <h2>Budgets</h2>
      {rows.length === 0 && <p class="small muted">No project has a budget: each may spend anything.</p>}
      <ul class="quotas">
        {rows.map((row) => (
          <BudgetBar key={row.project_id} row={row} onRemoved={maySet ? budgets.reload : null} />
        ))}
      </ul>
      {maySet && <BudgetForm onSet={budgets.reload} />}
    </section>
  );
}

function BudgetBar({ row, onRemoved }: { row: Budget; onRemoved: (() => void) | null }) {
  const remove = async () => {
    if (await attempt(() => api.removeBudget(row.project_id), `${row.project_name} may spend anything.`)) onRemoved?.();
  };
  const parts = (
    <>
      <i class={row.is_near ? "borrowed" : "own"} style={{ width: `${spentShare(row) * 100}%` }} />
      <i class="limit" style={{ left: `${row.warn_at * 100}%` }} />
    </>
  );
  return (
    <MeterRow
      name={row.project_name}
      label={`Budget of ${row.project_name}`}
      text={spentText(row)}
      value={spentShare(row)}
      max={1}
      parts={parts}
    >
      <div class="row-between">
        <span class="small">{stateText(row)}</span>
        {onRemoved && (
          <button type="button" class="button quiet small" onClick={() => void remove()}>
            Remove the budget
          </button>
        )}
      </div>
    </MeterRow>
  );
}

/** Fields by name as REST takes them. */
function BudgetForm({ onSet }: { onSet: () => void }) {
  const projects = useResource(() => api.shares("default"), []);
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const typed = Object.fromEntries(new FormData(event.currentTarget));
    const { project, warn_percent, ...rest } = typed as Record<string, string>;
    const body = { ...rest, warn_at: Number(warn_percent) / 100 } as unknown as BudgetToSet;
    setBusy(true);
    const isDone = await attempt(() => api.setBudget(project ?? "", body), "The budget is set.");
    setBusy(false);
    if (isDone) onSet();
  };
  return (
    <form class="filters" aria-label="Set a budget" onSubmit={(event) => void submit(event)}>
      <Choice
        name="project"
        label="Project"
        of={(projects.value ?? []).map((row) => [row.project_id, row.project_name])}
      />
      <label class="row small">
        May spend
        <input class="input day" name="amount" type="number" min="0" step="any" required />
      </label>
      <Choice name="unit" label="Unit" of={Object.entries(UNITS).reverse()} />
      <Choice name="period" label="Counted" of={Object.entries(PERIODS)} />
      <label class="row small">
        Warn from %
        <input class="input day" name="warn_percent" type="number" min="0" max="100" defaultValue="80" required />
      </label>
      <Choice name="when_spent" label="When it is spent" of={Object.entries(WHEN_SPENT)} selected="hold" />
      <button type="submit" class="button" disabled={isBusy}>
        Set the budget
      </button>
    </form>
  );
}

function Choice(props: { name: string; label: string; of: [string, string][]; selected?: string }) {
  return (
    <label class="row small">
      {props.label}
      <select name={props.name} required>
        {props.of.map(([value, words]) => (
          <option key={value} value={value} selected={value === props.selected}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}
