/** The inputs of the form that are more than a list of fields: base model and prompts. */

import type { BaseModel, ListedPromptSet } from "../../api/schema.ts";
import { number } from "../../base/format.ts";
import { getPath, isList } from "../../base/paths.ts";
import { Segmented } from "../../ui/controls.tsx";
import { EntriesInput } from "./entries.tsx";
import { Choices, FieldNote, helpOfChoice } from "./field.tsx";
import { type FieldSpec, MODEL_FIELDS, PROMPTS } from "./fields.ts";
import type { FormModel } from "./form_model.ts";

const classOf = (model: FormModel, path: string) => (model.isChanged(path) ? "changed" : "");

export function ModelInputs({ model, models }: { model: FormModel; models: readonly BaseModel[] }) {
  const [path, ...choices] = MODEL_FIELDS;
  const value = String(getPath(model.spec.value, path.path) ?? "");
  const known = models.find((one) => one.name === value || one.path === value);
  const id = `field-${path.path}`;
  return (
    <div class="fields">
      <div class={`field wide ${classOf(model, path.path)}`}>
        <label for={id}>{path.label}</label>
        <input
          id={id}
          name={path.path}
          list="known-models"
          value={value}
          aria-invalid={model.errorsAt(path.path).length > 0}
          aria-describedby="model-note"
          onInput={(event) => model.set(path.path, event.currentTarget.value)}
        />
        <datalist id="known-models">
          {models.map((one) => (
            <option key={one.name} value={one.name}>
              {one.description}
            </option>
          ))}
        </datalist>
        <FieldNote
          id="model-note"
          errors={model.errorsAt(path.path)}
          help={known?.description || "A model of this installation, or a hub id such as org/name."}
        />
      </div>
      {choices.map((field) => (
        <ModelChoice key={field.path} model={model} field={field} />
      ))}
    </div>
  );
}

function ModelChoice({ model, field }: { model: FormModel; field: FieldSpec }) {
  const { path, label } = field;
  const schema = model.schema.at(path);
  const id = `field-${path}`;
  const value = model.value(path);
  return (
    <div class={`field ${classOf(model, path)}`}>
      <label for={id}>{label}</label>
      <Choices id={id} schema={schema} value={value} onChange={(next) => model.set(path, next)} />
      <FieldNote
        id={`${id}-note`}
        errors={model.errorsAt(path)}
        help={schema.help}
        choice={helpOfChoice(schema, value)}
      />
    </div>
  );
}

export function PromptInputs({ model, promptSets }: { model: FormModel; promptSets: readonly ListedPromptSet[] }) {
  const spec = model.spec.value;
  const promptSet = getPath(spec, PROMPTS.set);
  const inline = getPath(spec, PROMPTS.inline);
  const lines = isList(inline) ? inline : [];
  const fromSet = typeof promptSet === "string";
  const errors = Object.values(PROMPTS).flatMap((path) => model.errorsAt(path));
  const choose = (source: "inline" | "set") =>
    model.set(
      PROMPTS.section,
      source === "set" ? { inline: [], prompt_set: promptSets[0]?.id ?? "" } : { inline: lines, prompt_set: null },
    );
  return (
    <div class={`stack-s step-part ${classOf(model, PROMPTS.section)}`}>
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
            value={promptSet}
            onChange={(event) => model.set(PROMPTS.set, event.currentTarget.value)}
          >
            {promptSets.length === 0 && <option value="">no set uploaded in this project</option>}
            {promptSets.map((one) => (
              <option key={one.id} value={one.id}>
                {one.name}, {number(one.num_prompts)} prompts
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
            name={PROMPTS.inline}
            list="lines"
            rows={7}
            value={lines}
            aria-invalid={errors.length > 0}
            aria-describedby="prompts-note"
            onChange={(prompts) => model.set(PROMPTS.inline, prompts)}
          />
          <FieldNote
            id="prompts-note"
            errors={errors}
            help="Each batch takes some of them in turn. A line may be a JSON object with text and any of negative, metadata, pictures and id."
          />
        </div>
      )}
    </div>
  );
}
