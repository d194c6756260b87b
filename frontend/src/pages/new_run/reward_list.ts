/** The list of rewards as the form edits it. Pure. */

import { isList, isObject, type Json, type JsonObject } from "../../base/paths.ts";
import { isVerdict } from "../../base/rewards.ts";
import type { Choice, SpecSchema } from "./spec_schema.ts";

export function rewardsIn(value: Json | undefined): readonly JsonObject[] {
  return isList(value) ? value.filter(isObject) : [];
}

const numOf = (rewards: readonly JsonObject[], name: string) => rewards.filter((reward) => reward.name === name).length;

/** The scorers that may be added: each once, one with settings of its own again under another label. */
export function addable(schema: SpecSchema, rewards: readonly JsonObject[]): readonly Choice[] {
  return schema
    .at("rewards.*.name")
    .choices.filter(
      ({ value }) =>
        numOf(rewards, String(value)) === 0 || schema.settingsByName("rewards.*.settings", String(value)).length > 0,
    );
}

/** `rewards` with one more. A scorer of verdicts is monitored: it checks what the others reward. */
export function withReward(rewards: readonly JsonObject[], name: string): readonly JsonObject[] {
  const before = numOf(rewards, name);
  const label = before > 0 ? { label: `${name}_${before + 1}` } : {};
  return [...rewards, { name, weight: 1, watched: isVerdict(name), ...label }];
}
