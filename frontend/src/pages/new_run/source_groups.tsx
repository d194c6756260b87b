/** The groups of the form that are more than a list of inputs: base model, prompts, rewards. */

import { getPath, isObject, sameJson, type Json, type JsonObject } from "../../base/paths.ts";
import type { BaseModel, PromptSet } from "../../api/types.ts";
import { Segmented } from "../../ui/controls.tsx";
import { EntriesInput } from "./entries.tsx";
import { Choices, FieldNote } from "./field.tsx";
import type { SpecSchema } from "./spec_schema.ts";

export interface GroupProps {
  readonly spec: JsonObject;
  readonly schema: SpecSchema;
  readonly parent: JsonObject | null;
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
          <input id="field-base_model.path" name="base_model.path" list="known-models" value={path}
            aria-invalid={errorsAt("base_model.path").length > 0} aria-describedby="model-note"
            onInput={(event) => set("base_model.path", event.currentTarget.value)} />
          <datalist id="known-models">{props.models.map((model) => <option key={model.name} value={model.name}>{model.description}</option>)}</datalist>
          <FieldNote id="model-note" errors={errorsAt("base_model.path")} help={known?.description || "A model of this installation, or a hub id such as org/name."} />
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
      <FieldNote id={`${id}-note`} errors={props.errorsAt(path)} help={schema.help} />
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
    set("prompts", source === "set" ? { inline: [], prompt_set: props.promptSets[0]?.id ?? "" } : { inline: lines, prompt_set: null });
  return (
    <fieldset class={`card form-group ${changedClass(props, "prompts")}`} id="group-prompts">
      <legend>Prompts</legend>
      <div class="row-between">
        <Segmented label="Where prompts come from" value={fromSet ? "set" : "inline"} onChange={choose}
          choices={[{ value: "inline", label: "Written here" }, { value: "set", label: "An uploaded set" }]} />
        {!fromSet && <span class="small muted num">{lines.length} prompts</span>}
      </div>
      {fromSet ? (
        <div class="field wide">
          <label for="field-prompts.prompt_set">Prompt set</label>
          <select id="field-prompts.prompt_set" value={set_id} onChange={(event) => set("prompts.prompt_set", event.currentTarget.value)}>
            {props.promptSets.length === 0 && <option value="">no set uploaded in this project</option>}
            {props.promptSets.map((one) => <option key={one.id} value={one.id}>{one.name}</option>)}
          </select>
          <FieldNote id="set-note" errors={errors} help="Sets are uploaded on the prompt sets page." />
        </div>
      ) : (
        <div class="field wide">
          <label for="field-prompts.inline">One prompt a line</label>
          <EntriesInput id="field-prompts.inline" name="prompts.inline" list="lines" rows={7} value={lines} aria-invalid={errors.length > 0}
            aria-describedby="prompts-note" onChange={(prompts) => set("prompts.inline", prompts)} />
          <FieldNote id="prompts-note" errors={errors} help="Each batch takes some of them in turn." />
        </div>
      )}
    </fieldset>
  );
}

interface Reward {
  readonly name: string;
  readonly weight: Json;
  readonly watched: boolean;
}

function rewardsOf(spec: JsonObject): Reward[] {
  const raw = getPath(spec, "rewards");
  return (Array.isArray(raw) ? raw : []).filter(isObject).map((reward) => ({
    name: String(reward["name"]), weight: reward["weight"] ?? 1, watched: reward["watched"] === true,
  }));
}

export function RewardsGroup(props: GroupProps) {
  const rewards = rewardsOf(props.spec);
  const put = (next: readonly Reward[]) => props.set("rewards", next.map((reward) => ({ ...reward })));
  const change = (index: number, changes: Partial<Reward>) =>
    put(rewards.map((reward, at) => (at === index ? { ...reward, ...changes } : reward)));
  const known = props.schema.at("rewards.*.name").choices;
  const unused = known.filter((choice) => !rewards.some((reward) => reward.name === choice.value));
  return (
    <fieldset class={`card form-group ${changedClass(props, "rewards")}`} id="group-rewards">
      <legend>Rewards</legend>
      <p class="small muted">Watched rewards are measured and shown but never trained on: they make reward hacking visible.</p>
      <ul class="stack-s">
        {rewards.map((reward, index) => (
          <li key={reward.name} class="reward-line">
            <span><b class="small">{reward.name}</b><span class="tiny faint"> {known.find((choice) => choice.value === reward.name)?.help}</span></span>
            <label class="check">weight
              <input type="number" step="any" min="0" value={String(reward.weight)} disabled={reward.watched} aria-label={`Weight of ${reward.name}`}
                onInput={(event) => change(index, { weight: Number(event.currentTarget.value) })} />
            </label>
            <label class="check"><input type="checkbox" checked={reward.watched} onChange={(event) => change(index, { watched: event.currentTarget.checked })} />watched</label>
            <button type="button" class="button quiet small" aria-label={`Remove ${reward.name}`} onClick={() => put(rewards.filter((_, at) => at !== index))}>✕</button>
            <FieldNote id={`reward-note-${index}`} help="" errors={["", ".name", ".weight", ".watched"].flatMap((end) => props.errorsAt(`rewards.${index}${end}`))} />
          </li>
        ))}
      </ul>
      <div class="row">
        {unused.map(({ value, help }) => (
          <button key={value} type="button" class="tag" title={help}
            onClick={() => put([...rewards, { name: String(value), weight: 1, watched: String(value).includes("judge") }])}>
            + {value}
          </button>
        ))}
      </div>
      <FieldNote id="rewards-note" help="" errors={props.errorsAt("rewards")} />
    </fieldset>
  );
}
