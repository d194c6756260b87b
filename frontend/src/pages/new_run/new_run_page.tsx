/** A new run: the sections at the left, one step of the form or the YAML, and the plan with the button at the right. */

import { useEffect, useMemo, useState } from "preact/hooks";
import { messageOf } from "../../api/client.ts";
import { api } from "../../api/endpoints.ts";
import type { Preset, Project, Run, RunToCheck, SavedCheckpoint } from "../../api/schema.ts";
import type { JsonObject } from "../../base/paths.ts";
import { proposedFor } from "../../base/rerun.ts";
import { Segmented } from "../../ui/controls.tsx";
import { useResource } from "../../ui/resource.ts";
import { Failed, Loading } from "../../ui/states.tsx";
import { Beginning } from "./beginning.tsx";
import { FormModel } from "./form_model.ts";
import { FormView } from "./form_view.ts";
import { ImportDialog } from "./import_dialog.tsx";
import { KeptAnswer } from "./kept_answer.ts";
import { Planner } from "./planner.ts";
import { Presets } from "./presets.tsx";
import { SectionList } from "./section_list.tsx";
import { type SchemaNode, SpecSchema } from "./spec_schema.ts";
import { StepPage } from "./step_page.tsx";
import { Summary } from "./summary.tsx";
import { YamlEditor } from "./yaml_editor.tsx";

interface Form {
  readonly model: FormModel;
  readonly presets: readonly Preset[];
  /** The run that this one repeats. */
  readonly repeats: Run | null;
  /** Those in which the user may start runs. */
  readonly projects: readonly Project[];
}

/** The form, filled from the run of id `from`, or from the first preset. */
async function readForm(from: string | null): Promise<Form> {
  const [presets, projects, schema] = await Promise.all([api.presets(), api.projects(), api.specSchema()]);
  const editable = projects.filter((project) => project.role !== "viewer");
  const model = new FormModel(new SpecSchema(schema as SchemaNode));
  const run = from === null ? null : await api.getRun(from);
  if (run !== null) {
    const checkpointId = new URLSearchParams(location.search).get("checkpoint");
    if (checkpointId === null) model.repeat({ ...run, spec: proposedFor(run.id) ?? run.spec });
    else model.fork(run, await checkpointOf(run, Number(checkpointId)));
  } else {
    model.project.value = new URLSearchParams(location.search).get("project") ?? lastProject(editable);
    const first = presets[0];
    if (first) model.choosePreset(first);
  }
  return { model, presets, repeats: run, projects: editable };
}

async function checkpointOf(run: Run, id: number): Promise<SavedCheckpoint> {
  const found = (await api.checkpoints(run.id)).find((checkpoint) => checkpoint.id === id);
  if (!found) throw new Error(`${run.name} has no checkpoint ${id}: choose one under Checkpoints & weights.`);
  return found;
}

const PROJECT_KEY = "tandem.project";

/** The project of the last run started here, when it may still be used; else the first. */
function lastProject(editable: readonly Project[]): string {
  const last = localStorage.getItem(PROJECT_KEY);
  return editable.find((project) => project.id === last)?.id ?? editable[0]?.id ?? "";
}

export function NewRunPage({ from }: { from: string | null }) {
  const form = useResource(() => readForm(from), [from]);
  if (form.error !== null) return <Failed message={form.error} onRetry={form.reload} />;
  if (!form.value) return <Loading label="Loading the form" />;
  return <FormPage {...form.value} />;
}

function FormPage({ model, presets, repeats, projects }: Form) {
  const models = useResource(api.baseModels, []);
  const sets = useResource(api.promptSets, []);
  const pools = useResource(api.pools, []);
  const secrets = useResource(
    async () => (model.project.value ? await api.secrets(model.project.value) : []),
    [model.project.value],
  );
  useEffect(() => warnBeforeLeaving(model), [model]);
  const view = useMemo(() => new FormView(localStorage), [model]);
  const planner = useMemo(() => new Planner(api.planFor), [model]);
  const preflight = useMemo(() => new KeptAnswer((run) => api.preflight(run as RunToCheck & JsonObject)), [model]);
  const isNew = model.parent.value === null;
  const checkpoint = model.checkpoint.value;
  return (
    <>
      <div class="page-head">
        <h1>{isNew ? "New run" : checkpoint ? "Fork a run" : "Edit and rerun"}</h1>
        {isNew && <ImportButton model={model} />}
        <Segmented
          label="Edit as"
          value={model.asYaml.value ? "yaml" : "form"}
          onChange={(value) => model.show(value === "yaml")}
          choices={[
            { value: "form", label: "Form" },
            { value: "yaml", label: "YAML" },
          ]}
        />
      </div>
      <div class="new-run">
        <SectionList model={model} view={view} />
        <div class="stack">
          <UnreadYaml model={model} />
          <Beginning model={model} repeats={repeats} />
          {model.asYaml.value ? (
            <YamlEditor model={model} />
          ) : (
            <StepPage
              model={model}
              view={view}
              models={models.value ?? []}
              promptSets={(sets.value ?? []).filter((set) => set.project === model.project.value)}
              pools={pools.value ?? []}
              secrets={(secrets.value ?? []).map((secret) => secret.name)}
              starts={preflight.kept.value?.answer.starts}
            >
              {isNew && (
                <Presets
                  presets={presets}
                  chosen={model.presetName.value}
                  choose={(preset) => model.choosePreset(preset)}
                />
              )}
            </StepPage>
          )}
          {models.error !== null && (
            <Failed message={`Base models could not be listed: ${models.error}`} onRetry={models.reload} />
          )}
          {pools.error !== null && (
            <Failed message={`Pools could not be listed: ${pools.error}`} onRetry={pools.reload} />
          )}
          {sets.error !== null && (
            <Failed message={`Prompt sets could not be listed: ${sets.error}`} onRetry={sets.reload} />
          )}
        </div>
        <Summary {...{ model, view, planner, preflight, projects }} start={() => start(model)} />
      </div>
    </>
  );
}

/** Opens the dialog that fills the form from a configuration of another trainer. */
function ImportButton({ model }: { model: FormModel }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" class="button quiet" onClick={() => setOpen(true)}>
        Import…
      </button>
      {isOpen && (
        <ImportDialog onImport={(runName, yaml) => void model.fillFrom(runName, yaml)} onClose={() => setOpen(false)} />
      )}
    </>
  );
}

/** That the form does not show the YAML as it was left, because nothing could read it. */
function UnreadYaml({ model }: { model: FormModel }) {
  if (model.unreadYaml.value === null) return null;
  return (
    <div class="notice warn row-between" role="status">
      <span>The YAML could not be read, so the form shows the spec as it last was. Your text is kept.</span>
      <span class="row">
        <button type="button" class="button small" onClick={() => model.show(true)}>
          Back to the YAML
        </button>
        <button type="button" class="button small" onClick={() => (model.unreadYaml.value = null)}>
          Discard it
        </button>
      </span>
    </div>
  );
}

let leaving = false;

/** Start the run and go to its page. Returns why it could not be started, or null. */
async function start(model: FormModel): Promise<string | null> {
  try {
    const run = await api.createRun(model.newRun);
    leaving = true;
    localStorage.setItem(PROJECT_KEY, model.project.value);
    location.assign(`/runs/${run.id}`);
    return null;
  } catch (error) {
    return messageOf(error);
  }
}

/** Only someone who edited something is asked before leaving. */
function warnBeforeLeaving(model: FormModel): () => void {
  const isLoaded = () => model.validator.answer.value !== null;
  let edited = false;
  const onInput = () => {
    edited = isLoaded();
  };
  const ask = (event: BeforeUnloadEvent) => {
    if (edited && !leaving) event.preventDefault();
  };
  document.addEventListener("input", onInput);
  addEventListener("beforeunload", ask);
  return () => {
    document.removeEventListener("input", onInput);
    removeEventListener("beforeunload", ask);
  };
}
