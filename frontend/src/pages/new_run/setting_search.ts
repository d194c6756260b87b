/** Finds settings of the form by label or key. Pure. */

import type { JsonObject } from "../../base/paths.ts";
import { type FieldSpec, GROUPS, PROMPTS, settingField } from "./fields.ts";
import type { SpecSchema } from "./spec_schema.ts";
import { FIELDS } from "./steps.ts";

/** Most settings that a search lists: what fits beside the form. */
const MOST = 8;

const PROMPT_FIELD: FieldSpec = { path: PROMPTS.inline, label: "Prompts" };

/** Every setting that has an input for this spec, those of the chosen algorithm among them. */
function settingsOf(schema: SpecSchema, spec: JsonObject): FieldSpec[] {
  const ofVariants = GROUPS.flatMap(({ variants }) =>
    variants === undefined ? [] : schema.settings(variants, spec).map((key) => settingField(variants, key)),
  );
  return [...FIELDS.values(), PROMPT_FIELD, ...ofVariants];
}

/** Settings whose label or key has every word of the query; those whose label begins with it come first. */
export function findSettings(query: string, schema: SpecSchema, spec: JsonObject): FieldSpec[] {
  const asked = query.trim().toLowerCase();
  if (asked === "") return [];
  const words = asked.split(/\s+/);
  const rank = ({ label, path }: FieldSpec) => {
    if (label.toLowerCase() === asked) return 0;
    if (label.toLowerCase().startsWith(asked)) return 1;
    return path.includes(asked) ? 2 : 3;
  };
  return settingsOf(schema, spec)
    .filter(({ label, path }) => words.every((word) => `${label} ${path}`.toLowerCase().includes(word)))
    .sort((a, b) => rank(a) - rank(b))
    .slice(0, MOST);
}
