/** Who changed what about a node, a GPU or a lane, and why. */

import type { PoolChange } from "../../api/schema.ts";
import { clock, unixSeconds } from "../../base/format.ts";
import { useResource } from "../../ui/resource.ts";
import { Failed, Loading } from "../../ui/states.tsx";

interface Props {
  readonly read: () => Promise<readonly PoolChange[]>;
  /** The list is read again when it changes: whose history it is, and its state. */
  readonly version: string;
  /** The GPU whose history it is, which need not be named in each line. */
  readonly ofGpu?: number;
}

export function History({ read, version, ofGpu }: Props) {
  const { value, error, reload } = useResource(read, [version]);
  return (
    <section aria-label="History">
      <h3>History</h3>
      {error !== null && <Failed message={error} onRetry={reload} />}
      {value === undefined && error === null && <Loading label="Loading the history" />}
      {value && <ChangeList changes={value} {...(ofGpu === undefined ? {} : { ofGpu })} />}
    </section>
  );
}

export function ChangeList({ changes, ofGpu }: { changes: readonly PoolChange[]; ofGpu?: number }) {
  if (changes.length === 0) return <p class="small muted">Nothing has been changed yet.</p>;
  return (
    <ul class="pool-history">
      {changes.map((change) => (
        <li key={change.id} class="small">
          <span class="num faint nowrap">{clock(unixSeconds(change.at))}</span>
          <span>
            <Name change={change} ofGpu={ofGpu} />
            {change.old} → <b>{change.new}</b>
            {change.reason && `, ${change.reason}`} <span class="muted">({change.by})</span>
          </span>
        </li>
      ))}
    </ul>
  );
}

function Name({ change, ofGpu }: { change: PoolChange; ofGpu: number | undefined }) {
  if (change.gpu_id !== null && change.gpu_id === ofGpu) return null;
  return <>{change.gpu_id === null ? change.name : <a href={`/pool/gpus/${change.gpu_id}`}>{change.name}</a>}: </>;
}
