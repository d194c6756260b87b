/** Shares and half-life of a pool, for its admins: what a change would do to the queue is shown before it can be saved. */

import { useState } from "preact/hooks";
import { api } from "../../api/endpoints.ts";
import type { PoolPolicy, PoolShare } from "../../api/schema.ts";
import { roughly } from "../../base/format.ts";
import { attempt } from "../../ui/toasts.tsx";
import {
  changedSettings,
  changedShares,
  entriesOf,
  type PolicyEntries,
  type QueueChange,
  queueChanges,
  type ShareEntry,
} from "./policy_form.ts";

interface Props {
  readonly pool: string;
  readonly shares: readonly PoolShare[];
  readonly policy: PoolPolicy;
  readonly onSaved: () => void;
}

/** What was shown, and for which entries: others have to be shown first. */
interface Shown {
  readonly entries: PolicyEntries;
  readonly changes: readonly QueueChange[];
}

export function PolicyEditor({ pool, shares, policy, onSaved }: Props) {
  const [typed, setTyped] = useState<PolicyEntries | null>(null);
  const [shown, setShown] = useState<Shown | null>(null);
  const [isBusy, setBusy] = useState(false);
  const entries = typed ?? entriesOf(shares, policy);
  const tried = changedShares(entries, shares);
  const settings = changedSettings(entries, policy);
  const isChanged = tried.length > 0 || Object.keys(settings).length > 0;
  const isShown = shown !== null && shown.entries === typed;

  const set = (project: string, change: Partial<ShareEntry>) => {
    const before = entries.shares[project];
    if (before === undefined) return;
    setTyped({ ...entries, shares: { ...entries.shares, [project]: { ...before, ...change } } });
  };
  const busily = async (work: () => Promise<unknown>, done?: string) => {
    setBusy(true);
    const isDone = await attempt(work, done);
    setBusy(false);
    return isDone;
  };
  const show = () =>
    busily(async () => {
      const [now, then] = await Promise.all([
        api.queue(pool),
        api.previewQueue({ pool, shares: tried, half_life_hours: settings.half_life_hours ?? null }),
      ]);
      setShown({ entries, changes: queueChanges(now, then) });
    });
  const forget = () => {
    setTyped(null);
    setShown(null);
  };
  const save = async () => {
    const isDone = await busily(async () => {
      for (const { project, ...share } of tried) await api.setShare(pool, project, share);
      if (Object.keys(settings).length > 0) await api.setPolicy(pool, settings);
    }, "The policy is saved.");
    if (!isDone) return;
    forget();
    onSaved();
  };

  return (
    <section class="card stack" aria-label="Policy">
      <h2>Policy</h2>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void show();
        }}
      >
        <div class="table-wrap">
          <table class="policy-table">
            <thead>
              <tr>
                <th>Project</th>
                <th>Guaranteed lanes</th>
                <th>Limit</th>
                <th>Weight</th>
              </tr>
            </thead>
            <tbody>
              {shares.map(({ project_id: id, project_name: name }) => (
                <ShareInputs key={id} name={name} entry={entries.shares[id]} onChange={(change) => set(id, change)} />
              ))}
            </tbody>
          </table>
        </div>
        <div class="grid-3">
          <Setting
            name="Half-life"
            unit="hours"
            help="After which use counts half in fair share."
            value={entries.halfLifeHours}
            onChange={(halfLifeHours) => setTyped({ ...entries, halfLifeHours })}
          />
          <Setting
            name="Give borrowed lanes back within"
            unit="seconds"
            help="A fragment that is not done by then is drawn again elsewhere."
            value={entries.reclaimSeconds}
            onChange={(reclaimSeconds) => setTyped({ ...entries, reclaimSeconds })}
          />
          <Setting
            name="Warn of idle GPUs after"
            unit="minutes"
            help="For which a run holds a GPU and does not use it."
            value={entries.idleWarningMinutes}
            onChange={(idleWarningMinutes) => setTyped({ ...entries, idleWarningMinutes })}
          />
          <Setting
            name="Take them back after"
            unit="minutes"
            help="Empty: never."
            isOptional
            value={entries.idleReleaseMinutes}
            onChange={(idleReleaseMinutes) => setTyped({ ...entries, idleReleaseMinutes })}
          />
        </div>
        {isShown && <Changes of={shown.changes} />}
        <div class="row">
          <button type="submit" class={`button ${isShown ? "" : "primary"}`} disabled={!isChanged || isBusy}>
            Show what would change
          </button>
          <button
            type="button"
            class="button primary"
            disabled={!(isChanged && isShown) || isBusy}
            title={isShown ? "" : "Look first at what would change"}
            onClick={() => void save()}
          >
            Save the policy
          </button>
          {isChanged && (
            <button type="button" class="button quiet" onClick={forget}>
              Forget the changes
            </button>
          )}
        </div>
      </form>
    </section>
  );
}

interface SettingProps {
  readonly name: string;
  readonly unit: string;
  readonly help: string;
  readonly value: string;
  readonly isOptional?: boolean;
  readonly onChange: (value: string) => void;
}

function Setting({ name, unit, help, value, isOptional = false, onChange }: SettingProps) {
  return (
    <label class="field">
      <span>
        {name} <span class="unit">{unit}</span>
      </span>
      <input
        type="number"
        min={0}
        step="any"
        required={!isOptional}
        value={value}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
      <span class="tiny field-help">{help}</span>
    </label>
  );
}

interface InputsProps {
  readonly name: string;
  readonly entry: ShareEntry | undefined;
  readonly onChange: (change: Partial<ShareEntry>) => void;
}

function ShareInputs({ name, entry, onChange }: InputsProps) {
  if (entry === undefined) return null;
  return (
    <tr>
      <td>{name}</td>
      <td>
        <input
          type="number"
          min={0}
          required
          aria-label={`Guaranteed lanes of ${name}`}
          value={entry.guaranteed}
          onInput={(event) => onChange({ guaranteed: event.currentTarget.value })}
        />
      </td>
      <td>
        <input
          type="number"
          min={0}
          placeholder="none"
          aria-label={`Limit of ${name}`}
          value={entry.limit}
          onInput={(event) => onChange({ limit: event.currentTarget.value })}
        />
      </td>
      <td>
        <input
          type="number"
          min={0}
          step="any"
          required
          aria-label={`Weight of ${name}`}
          value={entry.weight}
          onInput={(event) => onChange({ weight: event.currentTarget.value })}
        />
      </td>
    </tr>
  );
}

function Changes({ of }: { of: readonly QueueChange[] }) {
  if (of.length === 0) return <p class="notice good">Nothing would change for the runs that wait now.</p>;
  return (
    <ul class="policy-changes small" aria-label="What would change">
      {of.map(({ name, before, after, seconds }) => (
        <li key={name}>
          <b>{name}</b> {before === after ? before : `${before} → ${after}`}
          {seconds !== null && seconds !== 0 && (
            <span class="muted">
              , starts {roughly(Math.abs(seconds))} {seconds > 0 ? "later" : "sooner"}
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}
