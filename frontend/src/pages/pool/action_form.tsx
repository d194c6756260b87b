/** What a pool admin does to the selection: to all of it or to nothing, in one call. */

import type { TargetedSubmitEvent } from "preact";
import { useState } from "preact/hooks";
import { api } from "../../api/endpoints.ts";
import type { PoolActionKind, PoolActions, PoolNode } from "../../api/schema.ts";
import { words } from "../../base/format.ts";
import { attempt } from "../../ui/toasts.tsx";
import { countText, type Selected, targetsOf } from "./selection.ts";

const DONE: Readonly<Record<PoolActionKind, string>> = {
  cordon: "cordoned",
  drain: "draining",
  maintenance: "in maintenance",
  resume: "resumed",
};

/** Actions of nodes and GPUs only; they may have a time, too. */
const NOT_FOR_LANES: ReadonlySet<PoolActionKind> = new Set(["drain", "maintenance"]);

/** Of GPUs only, and another call than the actions. */
const TEST = "test";

interface Props {
  readonly selected: Selected;
  readonly onDone: (nodes: readonly PoolNode[]) => void;
}

export function ActionForm({ selected, onDone }: Props) {
  const [isBusy, setBusy] = useState(false);
  const hasLanes = selected.lanes.length > 0;
  const isOfGpus = selected.gpus.length > 0 && selected.nodes.length + selected.lanes.length === 0;
  const test = (reason: string) =>
    api.testGpus(
      selected.gpus.map(({ gpu }) => gpu.id),
      reason,
    );
  const submit = async (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const action = (event.submitter as HTMLButtonElement | null)?.value as PoolActionKind | typeof TEST;
    setBusy(true);
    const isDone = await (action === TEST
      ? attempt(() => test(reasonIn(form)), `${countText(selected)} will be tested: no new work until it has passed.`)
      : attempt(
          async () => onDone(await api.actOnPool({ action, ...saidIn(form, action), ...targetsOf(selected) })),
          `${countText(selected)} ${DONE[action]}.`,
        ));
    setBusy(false);
    if (isDone) form.reset();
  };
  const button = (action: PoolActionKind, title: string) => {
    const isRefused = hasLanes && NOT_FOR_LANES.has(action);
    return (
      <button
        type="submit"
        class="button"
        value={action}
        disabled={isBusy || isRefused}
        formNoValidate={action === "resume"}
        title={isRefused ? "CPU lanes are cordoned or resumed; choose their node instead" : title}
      >
        {words(action)}
      </button>
    );
  };
  return (
    <form class="pool-action" onSubmit={(event) => void submit(event)}>
      <label class="small muted">
        Reason, which others read
        <input name="reason" required maxLength={200} placeholder="such as: new cables" />
      </label>
      <label class="small muted">
        Empty by, or maintained until (optional)
        <input class="input" name="until" type="datetime-local" />
      </label>
      <div class="row">
        {button("cordon", "What runs stays; nothing new begins there")}
        {button("drain", "The same, to be waited for: drained once nothing runs there")}
        {button("maintenance", "Takes no new work while somebody works on it; its GPUs are tested afterwards")}
        {button("resume", "Takes new work again, after a test where it was faulty or maintained")}
        {isOfGpus && (
          <button
            type="submit"
            class="button"
            value={TEST}
            disabled={isBusy}
            title="Takes no new work until it has passed a test, which begins once nothing runs on it"
          >
            Re-test
          </button>
        )}
      </div>
    </form>
  );
}

const reasonIn = (form: HTMLFormElement) => String(new FormData(form).get("reason"));

/** The reason, and the time for the actions that have one. */
function saidIn(form: HTMLFormElement, action: PoolActionKind): Pick<PoolActions, "reason" | "until"> {
  const fields = new FormData(form);
  const until = String(fields.get("until"));
  const hasEnd = until !== "" && NOT_FOR_LANES.has(action);
  return { reason: reasonIn(form), until: hasEnd ? new Date(until).toISOString() : null };
}
