/** Beside the form, always in view: name and project, whether the run may start, the button, and the plan. On a narrow
 * screen it is a sheet behind a bar at the bottom. */

import { useState } from "preact/hooks";
import type { Project } from "../../api/schema.ts";
import { duration, number } from "../../base/format.ts";
import { AsCode } from "./as_code.tsx";
import type { FormModel } from "./form_model.ts";
import type { FormView } from "./form_view.ts";
import { ParentChanges } from "./parent_changes.tsx";
import type { Planner } from "./planner.ts";
import { PlannerPanel } from "./planner_panel.tsx";
import { type Preflight, StartChecksPanel } from "./start_checks.tsx";
import { Readiness, Verdict } from "./verdict.tsx";

interface Props {
  readonly model: FormModel;
  readonly view: FormView;
  readonly planner: Planner;
  readonly preflight: Preflight;
  readonly projects: readonly Project[];
  readonly start: () => Promise<string | null>;
}

export function Summary(props: Props) {
  const { model, view, planner } = props;
  const [isOpen, setOpen] = useState(false);
  const parent = model.parent.value;
  return (
    <>
      <aside class={`summary ${isOpen ? "open" : ""}`} id="summary" aria-label="Start and plan">
        <Start {...props} />
        <StartChecksPanel model={model} view={view} preflight={props.preflight} />
        <PlannerPanel model={model} planner={planner} />
        {parent && <ParentChanges parent={parent.spec} spec={model.spec.value} view={view} />}
        <AsCode model={model} />
      </aside>
      <button
        type="button"
        class="to-summary"
        aria-expanded={isOpen}
        aria-controls="summary"
        onClick={() => setOpen(!isOpen)}
      >
        <span class="stack-s">
          <Readiness model={model} />
          <InShort planner={planner} />
        </span>
        <span class="button small primary">{isOpen ? "Back to the form" : "Plan and start"}</span>
      </button>
    </>
  );
}

/** The plan in a few words, for the bar. */
function InShort({ planner }: { planner: Planner }) {
  const plan = planner.made.value?.plan;
  const best = plan?.by_mode[plan.mode];
  return (
    <span class="tiny muted num">
      {best ? `${number(best.samples_per_second)} samples/s, ${duration(best.batch_seconds)} a batch` : "no plan yet"}
    </span>
  );
}

function Start({ model, view, projects, start }: Props) {
  const [starting, setStarting] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    setStarting(true);
    await model.validator.whenChecked();
    // Where the spec is refused now, the verdict says so.
    setError(model.ok.value ? await start() : null);
    setStarting(false);
  };
  // Also while what was edited last is checked: a button that is disabled under the pointer loses its click.
  const ready =
    model.validator.answer.value?.ok === true && model.name.value.trim() !== "" && model.project.value !== "";
  return (
    <form class="card stack-s" onSubmit={(event) => void submit(event)}>
      <div class="name-and-project">
        <label class="field">
          <span>Name</span>
          <input
            name="name"
            required
            maxLength={120}
            value={model.name.value}
            onInput={(event) => (model.name.value = event.currentTarget.value)}
          />
        </label>
        <label class="field">
          <span>Project</span>
          <select
            name="project"
            value={model.project.value}
            onChange={(event) => model.chooseProject(event.currentTarget.value)}
          >
            {projects.length === 0 && <option value="">you may start runs in no project</option>}
            {projects.map((project) => (
              <option key={project.id} value={project.id}>
                {project.name}
              </option>
            ))}
          </select>
        </label>
      </div>
      {/* Above all that grows and shrinks with each answer: a button that moves under the pointer loses its click. */}
      <button type="submit" class="button primary start" disabled={!ready || starting}>
        {starting ? "Starting…" : "Start the run"}
      </button>
      <Verdict model={model} view={view} />
      {error !== null && (
        <p class="notice bad" role="alert">
          {error}
        </p>
      )}
    </form>
  );
}
