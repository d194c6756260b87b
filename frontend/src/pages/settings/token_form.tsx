/** A token to make: what it is for, what it may do, where, and until when. */

import type { TargetedSubmitEvent } from "preact";
import { useState } from "preact/hooks";
import { api } from "../../api/endpoints.ts";
import { type NewToken, type ServiceAccount, type TokenScope, tokenScopeValues } from "../../api/schema.ts";
import { useResource } from "../../ui/resource.ts";

/** What each scope lets a token do, as far as its user may. */
export const SCOPE_WORDS: Readonly<Record<TokenScope, string>> = {
  read: "Read what its user may read",
  run: "Create and control runs, upload prompts",
  pool: "What pool admins do",
  admin: "Tokens, members, secrets, accounts",
};
const DAYS = [7, 30, 90, 365] as const;
const DEFAULT_DAYS = 90;

/** The body of what the form holds; without a limit it names no projects and no pools. */
export function tokenFrom(form: FormData): NewToken {
  const chosen = (name: string) => form.getAll(name).map(String);
  const some = (values: string[]) => (values.length > 0 ? values : null);
  return {
    name: String(form.get("name")),
    scopes: ["read", ...tokenScopeValues.filter((scope) => chosen("scopes").includes(scope))],
    projects: some(chosen("projects")),
    pools: some(chosen("pools")),
    expires_in_days: Number(form.get("days")),
  };
}

interface Props {
  readonly onCreate: (token: NewToken) => Promise<boolean>;
  /** The service account that it is for, which has one project, or the pool; else it is the user's own. */
  readonly account?: ServiceAccount;
}

export function TokenForm({ onCreate, account }: Props) {
  const me = useResource(api.me, []).value;
  const projects = useResource(api.projects, []).value ?? [];
  const pools = useResource(api.pools, []).value ?? [];
  const [mayPool, setMayPool] = useState(false);
  /** Each token gets a fresh form: resetting one forgets which option was chosen by default. */
  const [round, setRound] = useState(0);
  const submit = async (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (!(await onCreate(tokenFrom(new FormData(event.currentTarget))))) return;
    setMayPool(false);
    setRound((before) => before + 1);
  };
  const isPoolAdmin = account ? account.project === null : me?.is_pool_admin || me?.is_superuser;
  return (
    <form key={round} class="stack-s" onSubmit={(event) => void submit(event)}>
      <div class="inline-form">
        <label class="field">
          <span>What it is for</span>
          <input name="name" required maxLength={80} placeholder="nightly sweep" />
        </label>
        <label class="field token-days">
          <span>Ends after</span>
          <select name="days">
            {DAYS.map((days) => (
              <option key={days} value={days} selected={days === DEFAULT_DAYS}>
                {days} days
              </option>
            ))}
          </select>
        </label>
      </div>
      <fieldset class="token-limits">
        <legend>It may</legend>
        <Check name="scopes" value="read" label={SCOPE_WORDS.read} checked disabled />
        <Check name="scopes" value="run" label={SCOPE_WORDS.run} />
        {isPoolAdmin && <Check name="scopes" value="pool" label={SCOPE_WORDS.pool} onChange={setMayPool} />}
        <Check name="scopes" value="admin" label={SCOPE_WORDS.admin} />
      </fieldset>
      {!account && projects.length > 1 && (
        <fieldset class="token-limits">
          <legend>In these projects; in all of yours if none is chosen</legend>
          {projects.map(({ id, name }) => (
            <Check key={id} name="projects" value={id} label={name} />
          ))}
        </fieldset>
      )}
      {mayPool && pools.length > 1 && (
        <fieldset class="token-limits">
          <legend>On these pools; on all if none is chosen</legend>
          {pools.map(({ name }) => (
            <Check key={name} name="pools" value={name} label={name} />
          ))}
        </fieldset>
      )}
      <div>
        <button type="submit" class="button primary">
          Create token
        </button>
      </div>
    </form>
  );
}

function Check(props: {
  name: string;
  value: string;
  label: string;
  checked?: boolean;
  disabled?: boolean;
  onChange?: (isChecked: boolean) => void;
}) {
  const { label, onChange, ...input } = props;
  return (
    <label class="check">
      <input type="checkbox" {...input} onChange={(event) => onChange?.(event.currentTarget.checked)} />
      <span>{label}</span>
    </label>
  );
}
