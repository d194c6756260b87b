/** What a waiting run could ask for instead, so that it starts now: each by one click. */

import { useState } from "preact/hooks";
import { api } from "../../api/endpoints.ts";
import type { AlternativeLanes } from "../../api/schema.ts";
import { useResource } from "../../ui/resource.ts";
import { Failed, Loading } from "../../ui/states.tsx";
import { attempt } from "../../ui/toasts.tsx";
import { slowDownText } from "./queue_words.ts";

interface Props {
  readonly run: string;
  /** Lanes that it wants now; read again when they change. */
  readonly lanes: Readonly<Record<string, number>>;
  readonly onTaken: () => void;
}

export function Alternatives({ run, lanes, onTaken }: Props) {
  const [isBusy, setBusy] = useState(false);
  const found = useResource(() => api.alternatives(run), [run, JSON.stringify(lanes)]);
  const take = async (alternative: AlternativeLanes) => {
    setBusy(true);
    const isDone = await attempt(
      () => api.askForLanes(run, alternative.lanes),
      `It asks for ${alternativeText(alternative)}.`,
    );
    setBusy(false);
    if (isDone) onTaken();
  };
  if (found.error !== null) return <Failed message={found.error} onRetry={found.reload} />;
  if (found.value === undefined) return <Loading label="Looking for what would start now" />;
  if (found.value.length === 0) {
    return <p class="small muted">Nothing smaller would start now without delaying a run ahead.</p>;
  }
  return (
    <ul class="queue-alternatives" aria-label="What would start now">
      {found.value.map((alternative) => (
        <li key={`${alternative.change} ${alternative.lanes.pool}`} class="row-between">
          <span>
            <b>{alternativeText(alternative)}</b>{" "}
            <span class="small muted">starts now; {slowDownText(alternative.slow_down)}</span>
          </span>
          <button type="button" class="button small" disabled={isBusy} onClick={() => void take(alternative)}>
            Ask for this
          </button>
        </li>
      ))}
    </ul>
  );
}

/** "2 rollout, 1 trainer, 1 reward lanes"; with the pool, or where rewards are computed, if that is what changes. */
export function alternativeText({ change, lanes }: AlternativeLanes): string {
  const counts = { rollout: lanes.num_rollout, trainer: lanes.num_trainer, reward: lanes.num_reward };
  const parts = Object.entries(counts).filter(([, count]) => (count ?? 0) > 0);
  const text = `${parts.map(([role, count]) => `${count} ${role}`).join(", ")} lanes`;
  if (change === "other_pool") return `${text} of the pool ${lanes.pool}`;
  return change === "rewards_on_cpus" ? `${text}, rewards on CPUs` : text;
}
