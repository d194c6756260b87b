/** Accounts of scripts, of a project or of the pool: made with a role, switched off and on, with tokens of their own. */

import type { TargetedSubmitEvent } from "preact";
import { useState } from "preact/hooks";
import { api } from "../../api/endpoints.ts";
import type { PatchedServiceAccountChanges, ProjectRole, ServiceAccount } from "../../api/schema.ts";
import { seconds } from "../../base/clock.ts";
import { ago, unixSeconds } from "../../base/format.ts";
import { Confirm } from "../../ui/dialog.tsx";
import { useResource } from "../../ui/resource.ts";
import { Failed } from "../../ui/states.tsx";
import { attempt } from "../../ui/toasts.tsx";
import { RoleChoice } from "./role_choice.tsx";
import { ServiceTokens } from "./service_tokens.tsx";

/** `project`: null for the pool's. */
export function ServiceAccounts({ project, onChange }: { project: string | null; onChange: () => void }) {
  const accounts = useResource(() => api.serviceAccounts(project), [project]);
  const [role, setRole] = useState<ProjectRole>("editor");
  const [opened, setOpened] = useState<ServiceAccount | null>(null);
  const [toSwitchOff, setToSwitchOff] = useState<ServiceAccount | null>(null);
  const reload = () => {
    accounts.reload();
    // They are members, too.
    onChange();
  };
  const change = async (account: ServiceAccount, changes: PatchedServiceAccountChanges, done: string) => {
    if (await attempt(() => api.changeServiceAccount(account.id, changes), done)) reload();
  };
  const create = async (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const name = String(new FormData(form).get("name"));
    const made = { project, name, ...(project === null ? {} : { role }) };
    if (await attempt(async () => setOpened(await api.createServiceAccount(made)))) {
      form.reset();
      reload();
    }
  };
  const rows = accounts.value ?? [];
  return (
    <details>
      <summary class="small">
        Service accounts <span class="muted num">{rows.length}</span>
      </summary>
      <div class="stack-s">
        <p class="small muted">
          Accounts of scripts, which have tokens and never sign in{project === null && "; these do what pool admins do"}
          . Switched off, one loses its tokens at once.
        </p>
        {accounts.error !== null && <Failed message={accounts.error} onRetry={accounts.reload} />}
        {rows.map((account) => (
          <AccountRow
            key={account.id}
            account={account}
            onRole={(next) => void change(account, { role: next }, `${account.name} is now ${next}.`)}
            onTokens={() => setOpened(account)}
            onSwitch={() =>
              account.is_active
                ? setToSwitchOff(account)
                : void change(account, { is_active: true }, `${account.name} is on, and needs new tokens.`)
            }
          />
        ))}
        <form class="inline-form" onSubmit={(event) => void create(event)}>
          <label class="field">
            <span>New service account</span>
            <input name="name" required maxLength={32} pattern="[a-z0-9][a-z0-9\-]*" placeholder="nightly" />
          </label>
          {project !== null && (
            <label class="field">
              <span>Role</span>
              <RoleChoice role={role} onChange={setRole} />
            </label>
          )}
          <button type="submit" class="button">
            Make it
          </button>
        </form>
      </div>
      {opened && (
        <ServiceTokens
          account={opened}
          onClose={() => {
            setOpened(null);
            accounts.reload();
          }}
        />
      )}
      {toSwitchOff && (
        <Confirm
          title={`Switch off ${toSwitchOff.name}?`}
          text="Its tokens are revoked, and what it has open is closed, at once."
          action="Switch off"
          onConfirm={() => void change(toSwitchOff, { is_active: false }, `${toSwitchOff.name} is off.`)}
          onClose={() => setToSwitchOff(null)}
        />
      )}
    </details>
  );
}

interface RowProps {
  readonly account: ServiceAccount;
  readonly onRole: (role: ProjectRole) => void;
  readonly onTokens: () => void;
  readonly onSwitch: () => void;
}

function AccountRow({ account, onRole, onTokens, onSwitch }: RowProps) {
  const used = unixSeconds(account.last_used_at);
  return (
    <article class="service-account" aria-label={account.name}>
      <div class="service-account-what">
        <b class="truncate" title={account.name}>
          {account.name}
        </b>
        <span class={account.is_active ? "small muted" : "small service-account-off"}>
          {account.is_active ? (used === null ? "never used" : `used ${ago(seconds.value - used)}`) : "off"}
        </span>
      </div>
      <div class="row">
        {account.role && (
          <RoleChoice
            label={`Role of ${account.name}`}
            role={account.role}
            style={{ width: "auto" }}
            onChange={onRole}
          />
        )}
        <button type="button" class="button small" disabled={!account.is_active} onClick={onTokens}>
          Tokens <span class="num muted">{account.num_tokens}</span>
        </button>
        <button type="button" class={`button small${account.is_active ? " danger" : ""}`} onClick={onSwitch}>
          {account.is_active ? "Switch off" : "Switch on"}
        </button>
      </div>
    </article>
  );
}
