/** What can be done with the chosen runs at once, and what was refused, with the reason of each. */

import { useState } from "preact/hooks";
import { api } from "../../api/endpoints.ts";
import type { BulkAnswer, BulkRequest } from "../../api/schema.ts";
import { Coded } from "../../ui/coded.tsx";
import { Confirm, Dialog } from "../../ui/dialog.tsx";
import { attempt, toast } from "../../ui/toasts.tsx";

type Action = BulkRequest["action"];

const DONE: Readonly<Record<Action, string>> = {
  stop: "stopping",
  cancel: "cancelling",
  archive: "archived",
  unarchive: "back in the list",
  tag: "tagged",
  untag: "untagged",
};
const ASKED: Readonly<Partial<Record<Action, string>>> = {
  stop: "Each writes a checkpoint and its LoRA, then ends as stopped. Resume goes on from there.",
  cancel: "They end at once, without a checkpoint. What they have reported so far stays.",
};

interface Props {
  readonly chosen: ReadonlySet<string>;
  readonly areArchived: boolean;
  readonly onDone: () => void;
  readonly onClear: () => void;
}

const runsOf = (number: number) => `${number} ${number === 1 ? "run" : "runs"}`;

export function BulkBar({ chosen, areArchived, onDone, onClear }: Props) {
  const [asking, setAsking] = useState<"stop" | "cancel" | null>(null);
  const [refused, setRefused] = useState<BulkAnswer["refused"]>([]);
  const [tag, setTag] = useState("");
  const ids = [...chosen];
  const act = (action: Action) =>
    void attempt(async () => {
      const needsTag = action === "tag" || action === "untag";
      const answer = await api.actOnRuns({ ids, action, ...(needsTag ? { tag } : {}) });
      if (answer.done.length > 0) toast(`${runsOf(answer.done.length)} ${DONE[action]}.`);
      setRefused(answer.refused);
      onDone();
    });
  return (
    <section class="bulk-bar" aria-label="Chosen runs">
      <b class="num">{runsOf(chosen.size)}</b>
      <a class="button small" aria-disabled={chosen.size < 2} href={`/compare?runs=${ids.join(",")}`}>
        Compare
      </a>
      <button type="button" class="button small" onClick={() => setAsking("stop")}>
        Stop
      </button>
      <button type="button" class="button small danger" onClick={() => setAsking("cancel")}>
        Cancel
      </button>
      <button type="button" class="button small" onClick={() => act(areArchived ? "unarchive" : "archive")}>
        {areArchived ? "Take out of the archive" : "Archive"}
      </button>
      <span class="row">
        <input
          aria-label="Tag"
          placeholder="tag"
          maxLength={40}
          value={tag}
          onInput={(event) => setTag(event.currentTarget.value)}
        />
        <button type="button" class="button small" disabled={!tag.trim()} onClick={() => act("tag")}>
          Add tag
        </button>
        <button type="button" class="button small" disabled={!tag.trim()} onClick={() => act("untag")}>
          Remove tag
        </button>
      </span>
      <button type="button" class="button quiet small" onClick={onClear}>
        Clear
      </button>
      {asking && (
        <Confirm
          title={`${asking === "stop" ? "Stop" : "Cancel"} ${runsOf(chosen.size)}?`}
          text={ASKED[asking] ?? ""}
          action={`${asking === "stop" ? "Stop" : "Cancel"} ${runsOf(chosen.size)}`}
          onConfirm={() => act(asking)}
          onClose={() => setAsking(null)}
        />
      )}
      {refused.length > 0 && <Refusals refused={refused} onClose={() => setRefused([])} />}
    </section>
  );
}

export function Refusals({ refused, onClose }: { refused: BulkAnswer["refused"]; onClose: () => void }) {
  return (
    <Dialog title={`Refused for ${runsOf(refused.length)}`} onClose={onClose}>
      <ul class="stack-s refusals">
        {refused.map(({ id, name, reason }) => (
          <li key={id}>
            <a href={`/runs/${id}`}>{name}</a>{" "}
            <span class="muted">
              <Coded text={reason} />
            </span>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
