/** The user's tokens: what each may do and where, when it was last used, and until when it is good. */

import { api } from "../../api/endpoints.ts";
import type { Token } from "../../api/schema.ts";
import { seconds } from "../../base/clock.ts";
import { ago, clock, unixSeconds } from "../../base/format.ts";
import { useResource } from "../../ui/resource.ts";
import { SCOPE_WORDS } from "./token_form.tsx";

interface Props {
  readonly tokens: readonly Token[];
  readonly onRevoke: (token: Token) => void;
  /** What a token is good for that is limited to no project. */
  readonly everywhere?: string;
}

export function TokenTable({ tokens, onRevoke, everywhere = "all projects" }: Props) {
  const projects = useResource(api.projects, []).value ?? [];
  const nameOf = new Map(projects.map(({ id, name }) => [id, name]));
  const since = (time: string) => ago(seconds.value - (unixSeconds(time) ?? 0));
  return (
    <div class="table-wrap">
      <table>
        <thead>
          <tr>
            <th>Token</th>
            <th>May</th>
            <th>Where</th>
            <th>Created</th>
            <th>Last used</th>
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
              <td>
                {token.scopes.map((scope) => (
                  <span key={scope} class="tag" title={SCOPE_WORDS[scope]}>
                    {scope}
                  </span>
                ))}
              </td>
              <td class="muted">{whereText(token, nameOf, everywhere)}</td>
              <td class="muted">{since(token.created_at)}</td>
              <td class="muted">{token.last_used_at ? since(token.last_used_at) : "never"}</td>
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

/** Projects and pools that it is limited to. A project that its user has left is told by its id. */
function whereText({ projects, pools }: Token, nameOf: ReadonlyMap<string, string>, everywhere: string): string {
  const named = projects?.map((id) => nameOf.get(id) ?? id.slice(0, 8)).join(", ") ?? everywhere;
  return pools.length > 0 ? `${named || "no project"}; pools ${pools.join(", ")}` : named || "no project";
}
