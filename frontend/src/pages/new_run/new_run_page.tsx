/** A new run: choose a preset or start from another run, adjust, see the resolved numbers, start. */

import type { ComponentChildren } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { messageOf } from "../../api/client.ts";
import { api } from "../../api/endpoints.ts";
import type { Preset, Project } from "../../api/types.ts";
import { getPath } from "../../base/paths.ts";
import { Segmented } from "../../ui/controls.tsx";
import { useResource } from "../../ui/resource.ts";
import { Failed, Loading } from "../../ui/states.tsx";
import { settled, whyNot } from "./applies.ts";
import { Field } from "./field.tsx";
import { GROUPS, type GroupSpec, settingField } from "./fields.ts";
import { FormModel } from "./form_model.ts";
import { PlanPreview } from "./plan_preview.tsx";
import { Presets } from "./presets.tsx";
import { RewardsGroup } from "./rewards_group.tsx";
import { type GroupProps, ModelGroup, PromptsGroup } from "./source_groups.tsx";
import { SpecSchema } from "./spec_schema.ts";
import { Readiness, Summary } from "./summary.tsx";

interface Catalog {
  readonly presets: readonly Preset[];
  readonly projects: readonly Project[];
  readonly schema: SpecSchema;
}

async function readCatalog(model: FormModel, from: string | null): Promise<Catalog> {
  const [presets, projects, schema] = await Promise.all([api.presets(), api.projects(), api.specSchema()]);
  const editable = projects.filter((project) => project.role !== "viewer");
  if (from !== null) {
    const parent = await api.getRun(from);
    model.parentSpec.value = parent.spec;
    model.parentId.value = parent.id;
    model.name.value = `${parent.name}, again`;
    model.project.value = parent.project.id;
    model.take(parent.spec);
  } else {
    model.project.value = new URLSearchParams(location.search).get("project") ?? lastProject(editable);
    const first = presets[0];
    if (first) choosePreset(model, first);
  }
  return { presets, projects: editable, schema: new SpecSchema(schema) };
}

const PROJECT_KEY = "tandem.project";

/** The project of the last run started here, when it may still be used; else the first. */
function lastProject(editable: readonly Project[]): string {
  const last = localStorage.getItem(PROJECT_KEY);
  return editable.find((project) => project.id === last)?.id ?? editable[0]?.id ?? "";
}

function choosePreset(model: FormModel, preset: Preset): void {
  model.presetName.value = preset.name;
  model.name.value = preset.title;
  model.take(preset.spec);
}

export function NewRunPage({ from }: { from: string | null }) {
  const model = useMemo(() => new FormModel(), []);
  const catalog = useResource(() => readCatalog(model, from), [from]);
  const models = useResource(api.baseModels, []);
  const sets = useResource(api.promptSets, []);
  const secrets = useResource(
    () => (model.project.value ? api.secrets(model.project.value) : Promise.resolve([])),
    [model.project.value],
  );
  useEffect(() => warnBeforeLeaving(model), [model]);
  if (catalog.error !== null) return <Failed message={catalog.error} onRetry={catalog.reload} />;
  if (!catalog.value) return <Loading label="Loading the form" />;
  const projectSets = (sets.value ?? []).filter((set) => set.project === model.project.value);
  return (
    <>
      <div class="page-head">
        <h1>{from === null ? "New run" : "Edit and rerun"}</h1>
        <Segmented
          label="Edit as"
          value={model.asYaml.value ? "yaml" : "form"}
          onChange={(value) => (model.asYaml.value = value === "yaml")}
          choices={[
            { value: "form", label: "Form" },
            { value: "yaml", label: "YAML" },
          ]}
        />
      </div>
      {from === null && (
        <Presets
          presets={catalog.value.presets}
          chosen={model.presetName.value}
          choose={(preset) => choosePreset(model, preset)}
        />
      )}
      <div class="new-run">
        <div class="stack">
          {model.asYaml.value ? (
            <YamlEditor model={model} />
          ) : (
            <FormGroups
              model={model}
              schema={catalog.value.schema}
              models={models.value ?? []}
              promptSets={projectSets}
              secrets={(secrets.value ?? []).map((secret) => secret.name)}
            />
          )}
          {models.error !== null && (
            <Failed message={`Base models could not be listed: ${models.error}`} onRetry={models.reload} />
          )}
          {sets.error !== null && (
            <Failed message={`Prompt sets could not be listed: ${sets.error}`} onRetry={sets.reload} />
          )}
        </div>
        <Summary model={model} projects={catalog.value.projects} start={() => start(model)} />
        <a class="to-summary" href="#summary">
          <Readiness model={model} />
          <span class="button small primary">Name and start</span>
        </a>
      </div>
    </>
  );
}

let leaving = false;

async function start(model: FormModel): Promise<string | null> {
  const parent = model.parentId.value;
  try {
    const run = await api.createRun({
      project: model.project.value,
      name: model.name.value.trim(),
      spec: model.spec.value,
      ...(parent === null ? {} : { parent }),
    });
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
  const loaded = () => model.validator.answer.value !== null;
  let edited = false;
  const onInput = () => {
    edited = loaded();
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

type FormGroupsProps = {
  model: FormModel;
  schema: SpecSchema;
  models: Parameters<typeof ModelGroup>[0]["models"];
  promptSets: Parameters<typeof PromptsGroup>[0]["promptSets"];
  secrets: readonly string[];
};

function FormGroups({ model, schema, models, promptSets, secrets }: FormGroupsProps) {
  void model.validator.answer.value;
  const shared: GroupProps = {
    spec: model.spec.value,
    schema,
    secrets,
    parent: model.parentSpec.value,
    errorsAt: (path) => model.validator.errorsAt(path),
    set: (path, value) => {
      if (path === "algorithm.name") model.take(settled(schema.switched("algorithm", String(value), model.spec.value)));
      else model.set(path, value);
    },
  };
  return (
    <>
      <ModelGroup {...shared} models={models} />
      <PromptsGroup {...shared} promptSets={promptSets} />
      <RewardsGroup {...shared} />
      {GROUPS.map((group) => (
        <FieldGroup key={group.id} group={group} {...shared}>
          {group.id === "pipeline" && <PlanPreview spec={shared.spec} ready={model.ok.value} />}
        </FieldGroup>
      ))}
    </>
  );
}

function FieldGroup({ group, children, ...shared }: { group: GroupSpec; children?: ComponentChildren } & GroupProps) {
  const settings = group.variants === undefined ? [] : shared.schema.settings(group.variants, shared.spec);
  const listed = [...group.fields, ...settings.map((key) => settingField(group.variants ?? "", key))];
  const fields = (
    <div class="fields">
      {listed.map((field) => {
        const schema = shared.schema.at(field.path, shared.spec);
        return (
          <Field
            key={field.path}
            field={field}
            schema={schema}
            value={getPath(shared.spec, field.path) ?? schema.fallback}
            errors={shared.errorsAt(field.path)}
            whyNot={whyNot(field.path, shared.spec)}
            isRerun={shared.parent !== null}
            parent={shared.parent ? getPath(shared.parent, field.path) : undefined}
            onChange={(value) => shared.set(field.path, value)}
          />
        );
      })}
    </div>
  );
  return (
    <fieldset class="card form-group" id={`group-${group.id}`}>
      <legend>{group.title}</legend>
      {group.advanced ? (
        <details>
          <summary class="small muted">{group.intro}</summary>
          {fields}
        </details>
      ) : (
        <>
          <p class="small muted">{group.intro}</p>
          {fields}
          {children}
        </>
      )}
    </fieldset>
  );
}

function YamlEditor({ model }: { model: FormModel }) {
  return (
    <section class="card" aria-label="Spec as YAML">
      <textarea
        class="yaml-editor"
        spellcheck={false}
        aria-label="Spec as YAML"
        rows={38}
        value={model.yaml.value}
        onInput={(event) => model.editYaml(event.currentTarget.value)}
      />
    </section>
  );
}
