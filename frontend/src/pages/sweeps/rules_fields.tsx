/** How a sweep is run: seeds, how many runs at a time, its budget, what points are compared by, and who is pruned. */

import { Segmented } from "../../ui/controls.tsx";
import { type DraftProps, Errors, NumberField } from "./space_fields.tsx";
import { objectives } from "./sweep_draft.ts";
import { errorsAt } from "./sweep_preview.ts";

const PRUNERS = [
  { value: "none", label: "None" },
  { value: "successive_halving", label: "Successive halving" },
] as const;
const OWN_FIELDS = ["num_seeds", "max_parallel_runs", "budget_gpu_hours", "objective", "name"] as const;

export function RulesFields({ draft, errors, onChange }: DraftProps) {
  return (
    <>
      <section class="card stack" aria-label="Runs and budget">
        <h2>Runs and budget</h2>
        <div class="fields">
          <NumberField label="Seeds per point" value={draft.numSeeds} onInput={(numSeeds) => onChange({ numSeeds })} />
          <NumberField
            label="Runs at a time"
            value={draft.maxParallelRuns}
            onInput={(maxParallelRuns) => onChange({ maxParallelRuns })}
          />
          <NumberField
            label="Budget in GPU-hours"
            value={draft.budget}
            placeholder="none"
            onInput={(budget) => onChange({ budget })}
          />
          <label class="field">
            <span>Points are compared by</span>
            <select value={draft.metric} onChange={(event) => onChange({ metric: event.currentTarget.value })}>
              {[...new Set([...objectives(draft.spec), draft.metric])].map((metric) => (
                <option key={metric}>{metric}</option>
              ))}
            </select>
          </label>
          <label class="field">
            <span>Better is</span>
            <select
              value={draft.maximise ? "greater" : "less"}
              onChange={(event) => onChange({ maximise: event.currentTarget.value === "greater" })}
            >
              <option>greater</option>
              <option>less</option>
            </select>
          </label>
        </div>
        <Errors messages={OWN_FIELDS.flatMap((field) => errorsAt(errors, `sweep.${field}`))} />
      </section>
      <section class="card stack" aria-label="Pruner">
        <div class="row-between">
          <h2>Pruner</h2>
          <Segmented
            label="Pruner"
            choices={PRUNERS}
            value={draft.pruner}
            onChange={(pruner) => onChange({ pruner })}
          />
        </div>
        {draft.pruner === "none" ? (
          <p class="small muted">Every point runs to its end.</p>
        ) : (
          <>
            <div class="fields">
              <NumberField
                label="First rung, in samples"
                value={draft.minSamples}
                onInput={(minSamples) => onChange({ minSamples })}
              />
              <NumberField
                label="1 point goes on of"
                value={draft.reductionFactor}
                onInput={(reductionFactor) => onChange({ reductionFactor })}
              />
            </div>
            <p class="small muted">
              Points are judged by the mean over their seeds, after equally many samples; rungs lie this factor apart.
              Let evaluations fall on them.
            </p>
          </>
        )}
        <Errors messages={errorsAt(errors, "sweep.pruner")} />
      </section>
    </>
  );
}
