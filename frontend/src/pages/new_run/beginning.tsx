/** What the run begins from, where that is not to be taken for granted: a checkpoint, or the base model although the run
 * that is repeated began from a checkpoint. */

import { useState } from "preact/hooks";
import { messageOf } from "../../api/client.ts";
import { api } from "../../api/endpoints.ts";
import type { Run } from "../../api/schema.ts";
import type { FormModel } from "./form_model.ts";

export function Beginning({ model, repeats }: { model: FormModel; repeats: Run | null }) {
  const checkpoint = model.checkpoint.value;
  if (checkpoint) {
    return (
      <p class="notice small">
        The run begins with the weights of batch {checkpoint.batch} and counts on from there. Base model, tuning, LoRA
        and averages must stay as they are; all else may change.
      </p>
    );
  }
  return repeats !== null && repeats.forked_batch !== null ? <FromTheBase model={model} fork={repeats} /> : null;
}

/** A repeat of a fork begins from the base model, which compares badly with it. */
function FromTheBase({ model, fork }: { model: FormModel; fork: Run }) {
  const [problem, setProblem] = useState<string | null>(null);
  const begin = async () => {
    try {
      await beginAs(model, fork);
    } catch (failure) {
      setProblem(messageOf(failure));
    }
  };
  return (
    <div class="notice warn small row-between">
      <span>
        {fork.name} was forked from batch {fork.forked_batch} of another run. This one begins from the base model, so
        their curves do not compare.
        {problem !== null && <b role="alert"> {problem}</b>}
      </span>
      <button type="button" class="button small" onClick={() => void begin()}>
        Fork from the same checkpoint
      </button>
    </div>
  );
}

/** Begin what is in the form as `fork` began. */
async function beginAs(model: FormModel, fork: Run): Promise<void> {
  if (fork.parent === null) throw new Error("The run that it was forked from has been deleted, with its checkpoints.");
  const [parent, checkpoints] = await Promise.all([api.getRun(fork.parent), api.checkpoints(fork.parent)]);
  const origin = checkpoints.find(({ uri }) => uri === fork.forked_from);
  if (!origin || origin.is_kept === false)
    throw new Error(`${parent.name} does not keep that checkpoint any more: fork from another, under its checkpoints.`);
  model.beginFrom(parent, origin);
}
