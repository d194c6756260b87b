/** The form's rewards: which, how much each counts, and the settings of each scorer as the server describes them. */

import { words } from "../../base/format.ts";
import { getPath, isObject, type Json, type JsonObject } from "../../base/paths.ts";
import { rewardKey } from "../../base/rewards.ts";
import { Field, FieldNote } from "./field.tsx";
import { MIXING, REWARD_FIELDS } from "./fields.ts";
import type { FormModel } from "./form_model.ts";
import { addable, rewardsIn, withReward } from "./reward_list.ts";
import type { FieldSchema } from "./spec_schema.ts";

const PATH = "rewards";
const EVERY = `${PATH}.*`;

interface Props {
  readonly model: FormModel;
  /** Names of the project's secrets. */
  readonly secrets: readonly string[];
}

export function RewardsGroup({ model, secrets }: Props) {
  const rewards = rewardsIn(getPath(model.spec.value, PATH));
  const put = (next: readonly JsonObject[]) => model.set(PATH, next);
  const numTrained = rewards.filter((reward) => reward.watched !== true).length;
  return (
    <div class={`stack-s step-part ${model.isChanged(PATH) ? "changed" : ""}`} id="field-rewards" tabIndex={-1}>
      <p class="small muted">
        A monitored reward is measured and shown but not trained on: it makes reward hacking visible.
      </p>
      <ul class="stack-s">
        {rewards.map((reward, index) => (
          <RewardLine
            key={index}
            model={model}
            secrets={secrets}
            reward={reward}
            path={`${PATH}.${index}`}
            change={(changes) => put(rewards.map((one, at) => (at === index ? { ...one, ...changes } : one)))}
            remove={() => put(rewards.filter((_, at) => at !== index))}
          />
        ))}
      </ul>
      <div class="row">
        {addable(model.schema, rewards).map(({ value, help }) => (
          <button
            key={value}
            type="button"
            class="tag"
            title={help}
            onClick={() => put(withReward(rewards, String(value)))}
          >
            + {value}
          </button>
        ))}
      </div>
      {numTrained > 1 && (
        <div class="fields">
          <Field
            field={MIXING}
            schema={model.schema.at(MIXING.path)}
            whyNot=""
            value={model.value(MIXING.path)}
            errors={model.errorsAt(MIXING.path)}
            isRerun={model.parent.value !== null}
            parent={model.parentValue(MIXING.path)}
            onChange={(value) => model.set(MIXING.path, value)}
          />
        </div>
      )}
      <FieldNote id="rewards-note" help="" errors={model.errorsAt(PATH)} />
    </div>
  );
}

interface LineProps extends Props {
  readonly reward: JsonObject;
  /** Of this reward in the spec. */
  readonly path: string;
  readonly change: (changes: JsonObject) => void;
  readonly remove: () => void;
}

function RewardLine(props: LineProps) {
  const { model, reward, path, change } = props;
  const name = String(reward.name);
  const key = rewardKey(reward);
  const help = model.schema.at(`${EVERY}.name`).choices.find((choice) => choice.value === name)?.help;
  const whyNoWeight = model.whyNot(`${path}.weight`);
  const whyNotMonitored = model.whyNot(`${path}.watched`);
  return (
    <li class="reward-line">
      <span>
        <b class="small">{key}</b>
        <span class="tiny faint"> {help}</span>
      </span>
      {whyNoWeight ? (
        <span class="tiny faint" title={whyNoWeight}>
          no weight
        </span>
      ) : (
        <label class="check">
          weight
          <input
            type="number"
            step="any"
            min="0"
            value={String(reward.weight ?? 1)}
            aria-label={`Weight of ${key}`}
            onInput={(event) => change({ weight: Number(event.currentTarget.value) })}
          />
        </label>
      )}
      <label class="check" title={whyNotMonitored}>
        <input
          type="checkbox"
          checked={reward.watched === true}
          disabled={whyNotMonitored !== ""}
          onChange={(event) => change({ watched: event.currentTarget.checked })}
        />
        <span title="Measured and shown, not trained on">monitored, not trained on</span>
      </label>
      <button type="button" class="button quiet small" aria-label={`Remove ${key}`} onClick={props.remove}>
        ✕
      </button>
      <RewardSettings {...props} name={name} />
      <FieldNote
        id={`reward-note-${path}`}
        help=""
        errors={["", ".name", ".weight", ".watched", ".settings"].flatMap((end) => model.errorsAt(path + end))}
      />
    </li>
  );
}

function RewardSettings({ model, secrets, reward, path, change, name }: LineProps & { name: string }) {
  const settings = isObject(reward.settings) ? reward.settings : {};
  const own = model.schema.settingsByName(`${EVERY}.settings`, name);
  const keys = [...REWARD_FIELDS.map(({ key }) => key), ...own.map(([key]) => `settings.${key}`)];
  const hasError = keys.some((key) => model.errorsAt(`${path}.${key}`).length > 0);
  const line = (
    key: string,
    label: string,
    unit: string,
    schema: FieldSchema,
    value: Json | undefined,
    put: (value: Json) => void,
  ) => (
    <Field
      key={key}
      field={{ path: `${path}.${key}`, label, unit }}
      schema={schema}
      value={value ?? schema.fallback}
      errors={model.errorsAt(`${path}.${key}`)}
      isRerun={false}
      whyNot={model.whyNot(`${path}.${key}`)}
      suggestions={key === "settings.secret" ? secrets : undefined}
      onChange={(next) => put(next === "" && schema.optional ? null : next)}
    />
  );
  return (
    <details class="reward-settings" open={hasError || undefined}>
      <summary class="small muted">Settings</summary>
      <div class="fields">
        {own.map(([key, schema]) =>
          line(`settings.${key}`, words(key), "", schema, settings[key], (value) =>
            change({ settings: { ...settings, [key]: value } }),
          ),
        )}
        {REWARD_FIELDS.map(({ key, label, unit }) =>
          line(key, label, unit ?? "", model.schema.at(`${EVERY}.${key}`), reward[key], (value) =>
            change({ [key]: value }),
          ),
        )}
      </div>
    </details>
  );
}
