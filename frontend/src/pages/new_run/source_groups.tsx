/** The groups of the form that are more than a list of inputs: base model and prompts. */

import type { BaseModel, PromptSet } from "../../api/types.ts";
import { getPath, type Json, type JsonObject, sameJson } from "../../base/paths.ts";
import { Segmented } from "../../ui/controls.tsx";
import { EntriesInput } from "./entries.tsx";
import { Choices, FieldNote, helpOfChoice } from "./field.tsx";
import type { SpecSchema } from "./spec_schema.ts";

export interface GroupProps {
  readonly spec: JsonObject;
  readonly schema: SpecSchema;
  readonly parent: JsonObject | null;
  /** Names of the project's secrets. */
  readonly secrets: readonly string[];
  readonly errorsAt: (path: string) => readonly string[];
  readonly set: (path: string, value: Json) => void;
}

const changedClass = ({ spec, parent }: GroupProps, path: string) =>
  parent && !sameJson(getPath(spec, path) ?? null, getPath(parent, path) ?? null) ? "changed" : "";

export function ModelGroup(props: GroupProps & { models: readonly BaseModel[] }) {
  const { spec, errorsAt, set } = props;
  const path = String(getPath(spec, "base_model.path") ?? "");
  const known = props.models.find((model) => model.name === path || model.path === path);
  return (
    <fieldset class="card form-group" id="group-model">
      <legend>Base model</legend>
      <div class="fields">
        <div class={`field wide ${changedClass(props, "base_model.path")}`}>
          <label for="field-base_model.path">Model</label>
          <input
            id="field-base_model.path"
            name="base_model.path"
            list="known-models"
            value={path}
            aria-invalid={errorsAt("base_model.path").length > 0}
            aria-describedby="model-note"
            onInput={(event) => set("base_model.path", event.currentTarget.value)}
          />
          <datalist id="known-models">
            {props.models.map((model) => (
              <option key={model.name} value={model.name}>
                {model.description}
              </option>
            ))}
          </datalist>
          <FieldNote
            id="model-note"
            errors={errorsAt("base_model.path")}
            help={known?.description || "A model of this installation, or a hub id such as org/name."}
          />
        </div>
        <ModelChoice {...props} path="base_model.family" label="Family" />
        <ModelChoice {...props} path="base_model.dtype" label="Precision" />
      </div>
    </fieldset>
  );
}

function ModelChoice({ path, label, ...props }: GroupProps & { path: string; label: string }) {
  const schema = props.schema.at(path);
  const id = `field-${path}`;
  return (
    <div class={`field ${changedClass(props, path)}`}>
      <label for={id}>{label}</label>
      <Choices id={id} schema={schema} value={getPath(props.spec, path)} onChange={(value) => props.set(path, value)} />
      <FieldNote
        id={`${id}-note`}
        errors={props.errorsAt(path)}
        help={schema.help}
        choice={helpOfChoice(schema, getPath(props.spec, path))}
      />
    </div>
  );
}

export function PromptsGroup(props: GroupProps & { promptSets: readonly PromptSet[] }) {
  const { spec, set } = props;
  const set_id = getPath(spec, "prompts.prompt_set");
  const inline = getPath(spec, "prompts.inline");
  const lines = Array.isArray(inline) ? inline : [];
  const fromSet = typeof set_id === "string";
  const errors = ["prompts", "prompts.inline", "prompts.prompt_set"].flatMap((path) => props.errorsAt(path));
  const choose = (source: "inline" | "set") =>
    set(
      "prompts",
      source === "set"
        ? { inline: [], prompt_set: props.promptSets[0]?.id ?? "" }
        : { inline: lines, prompt_set: null },
    );
  return (
    <fieldset class={`card form-group ${changedClass(props, "prompts")}`} id="group-prompts">
      <legend>Prompts</legend>
      <div class="row-between">
        <Segmented
          label="Where prompts come from"
          value={fromSet ? "set" : "inline"}
          onChange={choose}
          choices={[
            { value: "inline", label: "Written here" },
            { value: "set", label: "An uploaded set" },
          ]}
        />
        {!fromSet && <span class="small muted num">{lines.length} prompts</span>}
      </div>
      {fromSet ? (
        <div class="field wide">
          <label for="field-prompts.prompt_set">Prompt set</label>
          <select
            id="field-prompts.prompt_set"
            value={set_id}
            onChange={(event) => set("prompts.prompt_set", event.currentTarget.value)}
          >
            {props.promptSets.length === 0 && <option value="">no set uploaded in this project</option>}
            {props.promptSets.map((one) => (
              <option key={one.id} value={one.id}>
                {one.name}
              </option>
            ))}
          </select>
          <FieldNote id="set-note" errors={errors} help="Sets are uploaded on the prompt sets page." />
        </div>
      ) : (
        <div class="field wide">
          <label for="field-prompts.inline">One prompt a line</label>
          <EntriesInput
            id="field-prompts.inline"
            name="prompts.inline"
            list="lines"
            rows={7}
            value={lines}
            aria-invalid={errors.length > 0}
            aria-describedby="prompts-note"
            onChange={(prompts) => set("prompts.inline", prompts)}
          />
          <FieldNote id="prompts-note" errors={errors} help="Each batch takes some of them in turn." />
        </div>
      )}
    </fieldset>
  );
}
