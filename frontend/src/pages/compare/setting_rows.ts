/** The settings of several specs as rows by section, with the form's labels. Pure. */

import { isList, isObject, type Json, type JsonObject, leaves, sameJson } from "../../base/paths.ts";
import { rewardKey } from "../../base/rewards.ts";
import { inWords } from "../../base/spec_words.ts";
import { type FieldSpec, GROUPS, inFormOrder, MIXING, MODEL_FIELDS, settingField } from "../new_run/fields.ts";

export interface SettingRow {
  readonly path: string;
  readonly label: string;
  readonly unit: string;
  readonly values: readonly (Json | undefined)[];
  readonly isSame: boolean;
}

export interface SettingSection {
  readonly key: string;
  readonly title: string;
  readonly rows: readonly SettingRow[];
}

const FIELDS: ReadonlyMap<string, FieldSpec> = new Map(
  [...MODEL_FIELDS, MIXING, ...GROUPS.flatMap((group) => group.fields)].map((known) => [known.path, known]),
);

/** Sections in the form's order; settings that no document has are left out. */
export function settingSections(specs: readonly JsonObject[]): SettingSection[] {
  const flat = specs.map((spec) => leaves(byReward(spec)));
  const paths = [...new Set(flat.flatMap((leaf) => [...leaf.keys()]))];
  const sections = new Map<string, SettingRow[]>();
  for (const path of paths) {
    const [section = path] = path.split(".");
    const values = flat.map((leaf) => leaf.get(path));
    const row = { path, ...labelled(path), values, isSame: values.every((value) => sameJson(value, values[0])) };
    sections.set(section, [...(sections.get(section) ?? []), row]);
  }
  return inFormOrder("", [...sections.keys()]).map((key) => ({
    key,
    title: settingField("", key).label,
    rows: sorted(key, sections.get(key) ?? []),
  }));
}

function sorted(section: string, rows: readonly SettingRow[]): SettingRow[] {
  const keys = inFormOrder(
    section,
    rows.map(({ path }) => path.slice(section.length + 1)),
  );
  return keys.flatMap((key) => rows.filter(({ path }) => path.slice(section.length + 1) === key));
}

/** A list of rewards means nothing by position: each reward's settings stand under its name. */
function byReward(spec: JsonObject): JsonObject {
  const { rewards } = spec;
  if (!isList(rewards)) return spec;
  const named = rewards.flatMap((reward) => (isObject(reward) ? [[rewardKey(reward), reward] as const] : []));
  return { ...spec, rewards: Object.fromEntries(named) };
}

function labelled(path: string): { label: string; unit: string } {
  const known = FIELDS.get(path);
  if (known) return { label: known.label, unit: known.unit ?? "" };
  const [section = "", ...rest] = path.split(".");
  const [key = section, ...inner] = rest;
  const first = settingField(section, rest.length === 0 ? section : key);
  const label = [first.label, ...inner.map((one) => settingField(section, one).label.toLowerCase())].join(", ");
  return { label, unit: first.unit ?? "" };
}

/** Lists longer than this are counted instead of written out. */
const MAX_ENTRIES = 3;

export function settingText(value: Json | undefined): string {
  if (value === undefined) return "–";
  if (value === true) return "yes";
  if (value === false) return "no";
  if (isList(value) && value.length > MAX_ENTRIES) return `${value.length} entries`;
  return inWords(value);
}
