/** The form's groups of inputs. */

import type { ComponentChildren } from "preact";
import type { BaseModel, Pool, PromptSet } from "../../api/schema.ts";
import { Terms } from "../../ui/term.tsx";
import { Field } from "./field.tsx";
import { GROUPS, type GroupSpec, settingField } from "./fields.ts";
import type { FormModel } from "./form_model.ts";
import { PlanPreview } from "./plan_preview.tsx";
import { POOL_PATH, withPools } from "./pool_choices.ts";
import { RewardsGroup } from "./rewards_group.tsx";
import { ModelGroup, PromptsGroup } from "./source_groups.tsx";

interface Props {
  readonly model: FormModel;
  readonly models: readonly BaseModel[];
  readonly promptSets: readonly PromptSet[];
  readonly pools: readonly Pool[];
  /** Names of the project's secrets. */
  readonly secrets: readonly string[];
}

export function FormGroups({ model, models, promptSets, pools, secrets }: Props) {
  void model.validator.answer.value;
  return (
    <>
      <ModelGroup model={model} models={models} />
      <PromptsGroup model={model} promptSets={promptSets} />
      <RewardsGroup model={model} secrets={secrets} />
      {GROUPS.map((group) => (
        <FieldGroup key={group.id} group={group} model={model} pools={pools}>
          {group.id === "pipeline" && <PlanPreview spec={model.spec.value} ready={model.ok.value} />}
        </FieldGroup>
      ))}
    </>
  );
}

interface GroupProps {
  readonly group: GroupSpec;
  readonly model: FormModel;
  readonly pools: readonly Pool[];
  readonly children?: ComponentChildren;
}

function FieldGroup(props: GroupProps) {
  const { group, model } = props;
  const section = group.variants;
  const settings = section === undefined ? [] : model.schema.settings(section, model.spec.value);
  const listed = [...group.fields, ...settings.map((key) => settingField(section ?? "", key))];
  const schemaOf = (path: string) => {
    const schema = model.schema.at(path, model.spec.value);
    return path === POOL_PATH ? withPools(schema, props.pools, model.project.value, model.value(path)) : schema;
  };
  const fields = (
    <div class="fields">
      {listed.map((field) => (
        <Field
          key={field.path}
          field={field}
          schema={schemaOf(field.path)}
          value={model.value(field.path)}
          errors={model.errorsAt(field.path)}
          whyNot={model.whyNot(field.path)}
          isRerun={model.parent.value !== null}
          parent={model.parentValue(field.path)}
          onChange={(value) => model.set(field.path, value)}
        />
      ))}
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
          <p class="small muted">
            <Terms>{group.intro}</Terms>
          </p>
          {fields}
          {props.children}
        </>
      )}
    </fieldset>
  );
}
