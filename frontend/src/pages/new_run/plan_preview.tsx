/** What the planner would choose for the spec in the form: asked for with a button, since planning may take seconds. */

import { useState } from "preact/hooks";
import { messageOf } from "../../api/client.ts";
import { api } from "../../api/endpoints.ts";
import type { PlanPreview as Answer } from "../../api/schema.ts";
import { getPath, type JsonObject, sameJson } from "../../base/paths.ts";
import { ModeTable } from "../../plan/mode_table.tsx";
import { basisInWords, choiceInWords } from "../../plan/plan_words.ts";
import { SplitChart } from "../../plan/split_chart.tsx";

export function PlanPreview({ spec, ready }: { spec: JsonObject; ready: boolean }) {
  const [made, setMade] = useState<{ spec: JsonObject; answer: Answer } | null>(null);
  const [asking, setAsking] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const ask = async () => {
    setAsking(true);
    setError(null);
    try {
      setMade({ spec, answer: await api.planFor(spec) });
    } catch (failure) {
      setError(messageOf(failure));
    }
    setAsking(false);
  };
  const isAuto = getPath(spec, "pipeline.placement") === "auto";
  return (
    <div class="stack-s" aria-live="polite">
      <div class="row">
        <button type="button" class="button small" disabled={!ready || asking} onClick={() => void ask()}>
          {asking
            ? "Planning…"
            : isAuto
              ? "Show what the planner would choose"
              : "Compare with what the planner would choose"}
        </button>
        {made && !sameJson(made.spec, spec) && <span class="tiny faint">The spec has changed since.</span>}
      </div>
      {error !== null && (
        <p class="notice bad" role="alert">
          {error}
        </p>
      )}
      {made && <Made answer={made.answer} />}
    </div>
  );
}

function Made({ answer }: { answer: Answer }) {
  const best = answer.by_mode[answer.mode];
  return (
    <div class="plan">
      <div class="stack-s">
        {best && (
          <p class="small">
            <b>{choiceInWords(best)}</b>; {basisInWords(answer)}.
          </p>
        )}
        {!answer.fits_pool && (
          <p class="notice warn small">The pool has fewer lanes than that: such a run would wait for more.</p>
        )}
        <ModeTable plan={answer} />
      </div>
      <SplitChart plan={answer} />
    </div>
  );
}
