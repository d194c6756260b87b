/** API tokens: made with what they may do, shown once, listed with their last use, revoked at once. */

import { useState } from "preact/hooks";
import { api } from "../../api/endpoints.ts";
import type { NewToken, Token } from "../../api/schema.ts";
import { Confirm } from "../../ui/dialog.tsx";
import { useResource } from "../../ui/resource.ts";
import { SecretOnce, TOKEN_TEXT } from "../../ui/secret_once.tsx";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { attempt } from "../../ui/toasts.tsx";
import { TokenForm } from "./token_form.tsx";
import { TokenTable } from "./token_table.tsx";

export function AccountPage() {
  const tokens = useResource(api.tokens, []);
  const [secret, setSecret] = useState<string | null>(null);
  const [toDelete, setToDelete] = useState<Token | null>(null);
  const create = (token: NewToken) =>
    attempt(async () => {
      setSecret((await api.createToken(token)).token);
      tokens.reload();
    });
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
      <TokenForm onCreate={create} />
      {secret !== null && (
        <SecretOnce secret={secret} text={TOKEN_TEXT} copy="Copy the token" onDone={() => setSecret(null)} />
      )}
      {tokens.error !== null && <Failed message={tokens.error} onRetry={tokens.reload} />}
      {tokens.value === undefined && tokens.error === null && <Loading />}
      {tokens.value?.length === 0 && (
        <Empty title="No tokens yet">Scripts and CI jobs need one each, so that one can be revoked alone.</Empty>
      )}
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
