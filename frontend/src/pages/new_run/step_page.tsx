/** One step of the form: its essential settings, and all its others when they are asked for. */

import type { ComponentChildren } from "preact";
import { useLayoutEffect } from "preact/hooks";
import type { BaseModel, ForecastTimes, ListedPromptSet, Pool } from "../../api/schema.ts";
import { Icon } from "../../ui/icon.tsx";
import { Terms } from "../../ui/term.tsx";
import { Field } from "./field.tsx";
import { type FieldSpec, type GroupSpec, settingField } from "./fields.ts";
import type { FormModel } from "./form_model.ts";
import type { FormView } from "./form_view.ts";
import { LanePicker } from "./lane_picker.tsx";
import { POOL_PATH, withPools } from "./pool_choices.ts";
import { RewardsGroup } from "./rewards_group.tsx";
import { ModelInputs, PromptInputs } from "./source_groups.tsx";
import { essentialFields, otherGroups, STEPS, type StepSpec, stepById } from "./steps.ts";

export interface StepProps {
  readonly model: FormModel;
  readonly view: FormView;
  readonly models: readonly BaseModel[];
  readonly promptSets: readonly ListedPromptSet[];
  readonly pools: readonly Pool[];
  /** Names of the project's secrets. */
  readonly secrets: readonly string[];
  /** When the run would start if it were created now; null if unknown, undefined until that has been asked. */
  readonly starts: ForecastTimes | null | undefined;
  /** What stands above the first step. */
  readonly children?: ComponentChildren;
}

export function StepPage(props: StepProps) {
  const { model, view } = props;
  void model.validator.answer.value;
  const step = stepById(view.step.value);
  useLayoutEffect(() => view.focusWanted(), [view.wanted.value]);
  return (
    <div class="stack">
      {step.id === "model" && props.children}
      <section class="card form-step" key={step.id} aria-labelledby="step-title">
        <div>
          <h2 id="step-title">{step.title}</h2>
          <p class="small muted">
            <Terms>{step.intro}</Terms>
          </p>
        </div>
        {step.id === "model" && <ModelInputs model={model} models={props.models} />}
        {step.id === "prompts" && <PromptInputs model={model} promptSets={props.promptSets} />}
        {step.id === "rewards" && <RewardsGroup model={model} secrets={props.secrets} />}
        <Inputs {...props} fields={essentialFields(step)} />
        {step.id === "budget" && <LanePicker model={model} pools={props.pools} starts={props.starts} />}
        <OtherSettings {...props} step={step} />
        <Turn view={view} step={step} />
      </section>
    </div>
  );
}

/** All settings of a step that only some users need, by group. They are drawn only when shown. */
function OtherSettings({ step, ...props }: StepProps & { step: StepSpec }) {
  const { model, view } = props;
  const groups = otherGroups(step).map((group) => ({ ...group, fields: fieldsOf(group, model) }));
  const number = groups.reduce((sum, group) => sum + group.fields.length, 0);
  const isRefused = groups.some(({ fields }) => fields.some(({ path }) => model.errorsAt(path).length > 0));
  const isOpen = isRefused || view.showsAll(step.id);
  return (
    <div class="other-settings">
      <button
        type="button"
        class="button small quiet"
        aria-expanded={isOpen}
        disabled={isRefused}
        title={isRefused ? "One of them is refused" : ""}
        onClick={() => view.showAll(step.id, !isOpen)}
      >
        <Icon name={isOpen ? "down" : "right"} />
        All settings of this section <span class="faint num">{number} more</span>
      </button>
      {isOpen &&
        groups.map((group) => (
          <fieldset key={group.id} class="setting-group" id={`group-${group.id}`}>
            <legend>{group.title}</legend>
            <p class="tiny muted">
              <Terms>{group.intro}</Terms>
            </p>
            <Inputs {...props} fields={group.fields} />
          </fieldset>
        ))}
    </div>
  );
}

/** A group's fields, and the settings of its chosen variant. */
function fieldsOf({ fields, variants }: GroupSpec, model: FormModel): FieldSpec[] {
  const own = variants === undefined ? [] : model.schema.settings(variants, model.spec.value);
  return [...fields, ...own.map((key) => settingField(variants ?? "", key))];
}

function Inputs({ model, pools, fields }: StepProps & { fields: readonly FieldSpec[] }) {
  const schemaOf = (path: string) => {
    const schema = model.schema.at(path, model.spec.value);
    return path === POOL_PATH ? withPools(schema, pools, model.project.value, model.value(path)) : schema;
  };
  return (
    <div class="fields">
      {fields.map((field) => (
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
}

/** To the step before and the one after. */
function Turn({ view, step }: { view: FormView; step: StepSpec }) {
  const at = STEPS.findIndex(({ id }) => id === step.id);
  const [before, after] = [STEPS[at - 1], STEPS[at + 1]];
  return (
    <div class="row-between">
      {before ? <StepButton view={view} step={before} label={`Back: ${before.title}`} /> : <span />}
      {after && <StepButton view={view} step={after} label={`Next: ${after.title}`} />}
    </div>
  );
}

function StepButton({ view, step, label }: { view: FormView; step: StepSpec; label: string }) {
  const go = () => {
    view.step.value = step.id;
  };
  return (
    <button type="button" class="button small" onClick={go}>
      {label}
    </button>
  );
}
