/** Which fields do not apply beside others, by the rules in the schema: they are greyed out with the reason, and set to
 * the value that the server accepts there, so that no error can stand at a field that nobody can edit. */

import type { Inapplicable } from "../../api/schema.ts";
import { getPath, isList, type Json, type JsonObject, sameJson, setPath } from "../../base/paths.ts";
import type { SpecSchema } from "./spec_schema.ts";

const ITEM = ".*.";

export class Applicability {
  constructor(private readonly schema: SpecSchema) {}

  /** Why the field at `path` does not apply to `spec`, in a sentence; empty where it does. */
  whyNot(path: string, spec: JsonObject): string {
    return this.rulesFor(spec).find((rule) => rule.field === path && this.holds(rule, spec))?.why ?? "";
  }

  /** `spec` with every field that does not apply at a value the server accepts; later rules see what earlier ones set,
   * as the server orders them. */
  settled(spec: JsonObject): JsonObject {
    return this.rulesFor(spec).reduce((current, rule) => {
      const { field, must_be } = rule;
      if (must_be === undefined || !this.holds(rule, current)) return current;
      return sameJson(this.valueAt(field, current), must_be) ? current : setPath(current, field, must_be);
    }, spec);
  }

  /** The rules with those about the items of a list written out for each item. */
  private rulesFor(spec: JsonObject): Inapplicable[] {
    return this.schema.inapplicable.flatMap((rule) => {
      const [list, below] = rule.field.split(ITEM);
      if (list === undefined || below === undefined) return [rule];
      const items = getPath(spec, list);
      return isList(items) ? items.map((_, index) => ofItem(rule, `${list}${ITEM}`, `${list}.${index}.`)) : [];
    });
  }

  private holds({ where }: Inapplicable, spec: JsonObject): boolean {
    return Object.entries(where).every(([path, values]) => {
      const value = this.valueAt(path, spec);
      return values.some((one) => one === value);
    });
  }

  /** What the spec holds there, or what the server takes for it. */
  private valueAt(path: string, spec: JsonObject): Json | undefined {
    return getPath(spec, path) ?? this.schema.at(path, spec).fallback;
  }
}

function ofItem(rule: Inapplicable, every: string, one: string): Inapplicable {
  const where = Object.entries(rule.where).map(([path, values]) => [path.replace(every, one), values]);
  return { ...rule, field: rule.field.replace(every, one), where: Object.fromEntries(where) };
}
