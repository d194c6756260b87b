/** API tokens: shown once when made, listed by name, revoked at once. */

import { useState } from "preact/hooks";
import { api } from "../../api/endpoints.ts";
import type { Token } from "../../api/schema.ts";
import { seconds } from "../../base/clock.ts";
import { ago, clock, unixSeconds } from "../../base/format.ts";
import { CopyButton } from "../../ui/controls.tsx";
import { Confirm } from "../../ui/dialog.tsx";
import { useResource } from "../../ui/resource.ts";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { attempt } from "../../ui/toasts.tsx";

export function AccountPage() {
  const tokens = useResource(api.tokens, []);
  const [secret, setSecret] = useState<string | null>(null);
  const [toDelete, setToDelete] = useState<Token | null>(null);
  const create = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const name = String(new FormData(form).get("name"));
    await attempt(async () => {
      setSecret((await api.createToken(name)).token);
      form.reset();
      tokens.reload();
    });
  };
  const revoke = async (token: Token) => {
    if (await attempt(() => api.revokeToken(token.id), "Revoked: it no longer works.")) tokens.reload();
  };
  return (
    <section class="card stack" aria-label="API tokens">
      <div>
        <h2>API tokens</h2>
        <p class="small muted">
          For scripts and CI: everything these pages do can be done over REST.{" "}
          <a href="/api/v1/docs">API documentation</a>
        </p>
      </div>
      <form class="inline-form" onSubmit={(event) => void create(event)}>
        <label class="field">
          <span>What it is for</span>
          <input name="name" required maxLength={80} placeholder="nightly sweep" />
        </label>
        <button type="submit" class="button primary">
          Make a token
        </button>
      </form>
      {secret !== null && (
        <div class="notice good stack-s" role="status" style={{ flexDirection: "column" }}>
          <b>Copy it now: it is shown this once and kept only as a hash.</b>
          <code class="secret">{secret}</code>
          <div class="row">
            <CopyButton text={secret} label="Copy the token" />
            <button type="button" class="button small" onClick={() => setSecret(null)}>
              Done
            </button>
          </div>
        </div>
      )}
      {tokens.error !== null && <Failed message={tokens.error} onRetry={tokens.reload} />}
      {tokens.value === undefined && tokens.error === null && <Loading />}
      {tokens.value?.length === 0 && <Empty title="No tokens" />}
      {tokens.value && tokens.value.length > 0 && <TokenTable tokens={tokens.value} onRevoke={setToDelete} />}
      {toDelete && (
        <Confirm
          title="Revoke this token?"
          text="Scripts that use it stop working at once."
          action="Revoke"
          onConfirm={() => void revoke(toDelete)}
          onClose={() => setToDelete(null)}
        />
      )}
    </section>
  );
}

function TokenTable({ tokens, onRevoke }: { tokens: readonly Token[]; onRevoke: (token: Token) => void }) {
  return (
    <div class="table-wrap">
      <table>
        <thead>
          <tr>
            <th>Token</th>
            <th>Made</th>
            <th>Ends</th>
            <th />
          </tr>
        </thead>
        <tbody>
          {tokens.map((token) => (
            <tr key={token.id}>
              <td>
                {token.name || "unnamed"} <span class="mono faint">{token.id.slice(0, 8)}…</span>
              </td>
              <td class="muted">{ago(seconds.value - (unixSeconds(token.created_at) ?? 0))}</td>
              <td class="muted num">{token.expires_at ? clock(unixSeconds(token.expires_at), false) : "never"}</td>
              <td class="right">
                <button type="button" class="button small danger" onClick={() => onRevoke(token)}>
                  Revoke
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
