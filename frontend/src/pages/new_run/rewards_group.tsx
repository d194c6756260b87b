/** The form's rewards: which, how much each counts, and the settings of each scorer as the server describes them. */

import { words } from "../../base/format.ts";
import { getPath, isObject, type Json, type JsonObject, sameJson } from "../../base/paths.ts";
import { Field, FieldNote } from "./field.tsx";
import { rewardKey } from "./reward_names.ts";
import type { GroupProps } from "./source_groups.tsx";
import type { FieldSchema } from "./spec_schema.ts";

/** What every reward has beside name, weight and `watched`. */
const CALL_FIELDS: readonly { key: string; label: string; unit?: string }[] = [
  { key: "label", label: "Label" },
  { key: "required", label: "Required" },
  { key: "timeout_seconds", label: "Time-out", unit: "s" },
  { key: "num_retries", label: "Retries" },
];

export function RewardsGroup(props: GroupProps) {
  const given = getPath(props.spec, "rewards");
  const rewards = (Array.isArray(given) ? given : []).filter(isObject);
  const put = (next: readonly JsonObject[]) => props.set("rewards", next);
  const numTrained = rewards.filter((reward) => reward["watched"] !== true).length;
  const isChanged = props.parent !== null && !sameJson(given ?? null, getPath(props.parent, "rewards") ?? null);
  return (
    <fieldset class={`card form-group ${isChanged ? "changed" : ""}`} id="group-rewards">
      <legend>Rewards</legend>
      <p class="small muted">
        Watched rewards are measured and shown but never trained on: they make reward hacking visible.
      </p>
      <ul class="stack-s">
        {rewards.map((reward, index) => (
          <RewardLine
            key={index}
            {...props}
            reward={reward}
            index={index}
            change={(changes) => put(rewards.map((one, at) => (at === index ? { ...one, ...changes } : one)))}
            remove={() => put(rewards.filter((_, at) => at !== index))}
          />
        ))}
      </ul>
      <AddReward {...props} rewards={rewards} put={put} />
      {numTrained > 1 && (
        <div class="fields">
          <Field
            field={{ path: "reward_mixing", label: "Mixing" }}
            schema={props.schema.at("reward_mixing")}
            whyNot=""
            value={getPath(props.spec, "reward_mixing") ?? "sum"}
            errors={props.errorsAt("reward_mixing")}
            isRerun={props.parent !== null}
            parent={props.parent ? getPath(props.parent, "reward_mixing") : undefined}
            onChange={(value) => props.set("reward_mixing", value)}
          />
        </div>
      )}
      <FieldNote id="rewards-note" help="" errors={props.errorsAt("rewards")} />
    </fieldset>
  );
}

type LineProps = GroupProps & {
  reward: JsonObject;
  index: number;
  change: (changes: JsonObject) => void;
  remove: () => void;
};

function RewardLine(props: LineProps) {
  const { reward, index, change, schema } = props;
  const name = String(reward["name"]);
  const key = rewardKey(reward);
  const watched = reward["watched"] === true;
  const help = schema.at("rewards.*.name").choices.find((choice) => choice.value === name)?.help;
  return (
    <li class="reward-line">
      <span>
        <b class="small">{key}</b>
        <span class="tiny faint"> {help}</span>
      </span>
      {watched ? (
        <span class="tiny faint">not trained on</span>
      ) : (
        <label class="check">
          weight
          <input
            type="number"
            step="any"
            min="0"
            value={String(reward["weight"] ?? 1)}
            aria-label={`Weight of ${key}`}
            onInput={(event) => change({ weight: Number(event.currentTarget.value) })}
          />
        </label>
      )}
      <label class="check">
        <input
          type="checkbox"
          checked={watched}
          onChange={(event) => change({ watched: event.currentTarget.checked })}
        />
        watched
      </label>
      <button type="button" class="button quiet small" aria-label={`Remove ${key}`} onClick={props.remove}>
        ✕
      </button>
      <RewardSettings {...props} name={name} watched={watched} />
      <FieldNote
        id={`reward-note-${index}`}
        help=""
        errors={["", ".name", ".weight", ".watched", ".settings"].flatMap((end) =>
          props.errorsAt(`rewards.${index}${end}`),
        )}
      />
    </li>
  );
}

function RewardSettings({
  reward,
  index,
  change,
  schema,
  errorsAt,
  secrets,
  name,
  watched,
}: LineProps & { name: string; watched: boolean }) {
  const settings = isObject(reward["settings"]) ? reward["settings"] : {};
  const own = schema.settingsByName("rewards.*.settings", name);
  const path = (key: string) => `rewards.${index}.${key}`;
  const hasError = [...CALL_FIELDS.map(({ key }) => key), ...own.map(([key]) => `settings.${key}`)].some(
    (key) => errorsAt(path(key)).length > 0,
  );
  const line = (
    key: string,
    label: string,
    unit: string,
    field: FieldSchema,
    value: Json | undefined,
    whyNot: string,
    put: (value: Json) => void,
  ) => (
    <Field
      key={key}
      field={{ path: path(key), label, unit }}
      schema={field}
      value={value}
      errors={errorsAt(path(key))}
      isRerun={false}
      whyNot={whyNot}
      suggestions={key === "settings.secret" ? secrets : undefined}
      onChange={(next) => put(next === "" && field.optional ? null : next)}
    />
  );
  return (
    <details class="reward-settings" open={hasError || undefined}>
      <summary class="small muted">Settings</summary>
      <div class="fields">
        {own.map(([key, field]) =>
          line(`settings.${key}`, words(key), "", field, settings[key] ?? field.fallback, "", (value) =>
            change({ settings: { ...settings, [key]: value } }),
          ),
        )}
        {CALL_FIELDS.map(({ key, label, unit }) => {
          const field = schema.at(`rewards.*.${key}`);
          const whyNot = key === "required" && watched ? "A watched reward never ends a run." : "";
          return line(key, label, unit ?? "", field, reward[key] ?? field.fallback, whyNot, (value) =>
            change({ [key]: value }),
          );
        })}
      </div>
    </details>
  );
}

/** One button for each scorer that is not used yet; a remote one can be used again under another name. */
function AddReward({
  schema,
  rewards,
  put,
}: GroupProps & { rewards: readonly JsonObject[]; put: (next: readonly JsonObject[]) => void }) {
  const numOf = (name: string) => rewards.filter((reward) => reward["name"] === name).length;
  const add = (name: string) => {
    const again = numOf(name);
    put([
      ...rewards,
      { name, weight: 1, watched: name.includes("judge"), ...(again > 0 ? { label: `${name}_${again + 1}` } : {}) },
    ]);
  };
  return (
    <div class="row">
      {schema
        .at("rewards.*.name")
        .choices.filter(({ value }) => value === "remote" || numOf(String(value)) === 0)
        .map(({ value, help }) => (
          <button key={value} type="button" class="tag" title={help} onClick={() => add(String(value))}>
            + {value}
          </button>
        ))}
    </div>
  );
}
