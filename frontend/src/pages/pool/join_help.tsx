/** How a machine becomes a node of the pool. */

import { api } from "../../api/endpoints.ts";
import type { PoolFacts } from "../../api/schema.ts";
import { CopyButton } from "../../ui/controls.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { useResource } from "../../ui/resource.ts";
import { Failed, Loading } from "../../ui/states.tsx";

export function JoinHelp({ facts }: { facts: PoolFacts }) {
  return (
    <ol class="join-help">
      <li>
        On the new machine, check out the same version of Tandem and install its requirements. It needs no database and
        no password of the web.
      </li>
      <li>
        Put the cluster's token into <code>RAY_AUTH_TOKEN</code> there. With <code>make up</code> it is in the file{" "}
        <code>ray-token</code> of the web's data folder, and the head listens to other machines only where{" "}
        <code>TANDEM_RAY_HOST</code> is set.
      </li>
      <li>
        Start it as a node:
        <div class="row">
          <pre class="code">{facts.join_command}</pre>
          <CopyButton text={facts.join_command} />
        </div>
        {facts.head_address === "" && (
          <p class="small muted">
            No node agent has reported the head's address yet: put that of your Ray head in place of HEAD:PORT.
          </p>
        )}
      </li>
      <li>It appears here by itself with its GPUs, within seconds.</li>
    </ol>
  );
}

export function AddNodeDialog({ onClose }: { onClose: () => void }) {
  const { value, error, reload } = useResource(api.pool, []);
  return (
    <Dialog title="Add a node" onClose={onClose}>
      {error !== null && <Failed message={error} onRetry={reload} />}
      {value === undefined && error === null && <Loading />}
      {value && <JoinHelp facts={value} />}
    </Dialog>
  );
}
