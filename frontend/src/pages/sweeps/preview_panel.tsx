/** What the sweep that is edited would run, and the button that starts it. */

import { useState } from "preact/hooks";
import { number } from "../../base/format.ts";
import { Coded } from "../../ui/coded.tsx";
import { Failed } from "../../ui/states.tsx";
import type { SweepDraft } from "./sweep_draft.ts";
import { errorsAt, type PreviewState } from "./sweep_preview.ts";

interface Props {
  readonly draft: SweepDraft;
  readonly preview: PreviewState;
  readonly onStart: () => Promise<void>;
}

export function PreviewPanel({ draft, preview, onStart }: Props) {
  const [isBusy, setBusy] = useState(false);
  const { found, errors, problem, isChecking } = preview;
  const numErrors = Object.values(errors).flat().length;
  const ofSpec = errorsAt(errors, "sweep.spec");
  const start = async () => {
    setBusy(true);
    await onStart();
    setBusy(false);
  };
  return (
    <aside class="card stack sweep-preview" aria-label="What would run">
      <h2>What would run</h2>
      {problem !== null && <Failed message={problem} />}
      {numErrors > 0 && (
        <p class="small" role="status">
          <b class="bad">{numErrors === 1 ? "1 problem" : `${numErrors} problems`}</b>{" "}
          {ofSpec.length === 0 ? "to mend at the fields." : "to mend. In the spec of every run:"}
        </p>
      )}
      {ofSpec.slice(0, 3).map((message) => (
        <p key={message} class="field-error">
          <Coded text={message} />
        </p>
      ))}
      {found && (
        <dl class="kv">
          <dt>Points</dt>
          <dd>{number(found.points.length)}</dd>
          <dt>Runs</dt>
          <dd>
            {number(found.num_runs)}, {draft.maxParallelRuns} at a time
          </dd>
          <dt>Samples</dt>
          <dd>{number(found.num_samples)} if none is pruned</dd>
          {found.rungs.length > 0 && (
            <>
              <dt>Rungs</dt>
              <dd>{found.rungs.map((rung) => number(rung)).join(", ")} samples</dd>
            </>
          )}
          {found.num_invalid_draws > 0 && (
            <>
              <dt>Invalid draws</dt>
              <dd>
                {found.num_invalid_draws}, replaced. The first: {found.invalid_draw}
              </dd>
            </>
          )}
        </dl>
      )}
      {!found && numErrors === 0 && problem === null && <p class="small muted">Every point is being checked…</p>}
      <button
        type="button"
        class="button primary"
        disabled={isBusy || isChecking || !found}
        onClick={() => void start()}
      >
        {found ? `Start ${number(found.num_runs)} ${found.num_runs === 1 ? "run" : "runs"}` : "Start"}
      </button>
    </aside>
  );
}
