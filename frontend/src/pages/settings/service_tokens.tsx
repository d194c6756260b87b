/** The tokens of a service account: made with what they may do, shown once, revoked at once. */

import { useState } from "preact/hooks";
import { api } from "../../api/endpoints.ts";
import type { NewToken, ServiceAccount, Token } from "../../api/schema.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { useResource } from "../../ui/resource.ts";
import { SecretOnce, TOKEN_TEXT } from "../../ui/secret_once.tsx";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { attempt } from "../../ui/toasts.tsx";
import { TokenForm } from "./token_form.tsx";
import { TokenTable } from "./token_table.tsx";

export function ServiceTokens({ account, onClose }: { account: ServiceAccount; onClose: () => void }) {
  const tokens = useResource(() => api.serviceTokens(account.id), [account.id]);
  const [secret, setSecret] = useState<string | null>(null);
  const create = ({ projects: _, ...wanted }: NewToken) =>
    attempt(async () => {
      setSecret((await api.createServiceToken(account.id, wanted)).token);
      tokens.reload();
    });
  const revoke = async (token: Token) => {
    if (await attempt(() => api.revokeServiceToken(account.id, token.id), "Revoked: it no longer works."))
      tokens.reload();
  };
  return (
    <Dialog title={`Tokens of ${account.name}`} wide onClose={onClose}>
      <TokenForm account={account} onCreate={create} />
      {secret !== null && (
        <SecretOnce secret={secret} text={TOKEN_TEXT} copy="Copy the token" onDone={() => setSecret(null)} />
      )}
      {tokens.error !== null && <Failed message={tokens.error} onRetry={tokens.reload} />}
      {tokens.value === undefined && tokens.error === null && <Loading />}
      {tokens.value?.length === 0 && <Empty title="No tokens yet">Each script needs one of its own.</Empty>}
      {tokens.value && tokens.value.length > 0 && (
        <TokenTable
          tokens={tokens.value}
          onRevoke={(token) => void revoke(token)}
          everywhere={account.project === null ? "the pool" : "its project"}
        />
      )}
    </Dialog>
  );
}
