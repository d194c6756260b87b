/** What the server says of each field of a run's spec: its help, its bounds, its choices. Read from the JSON schema, so
 * that a new reward, family or bound needs no change here. */

import { isObject, type Json, type JsonObject, sameJson, setPath } from "../../base/paths.ts";

export interface Choice {
  readonly value: string | number;
  readonly help: string;
}

export interface FieldSchema {
  readonly type: "integer" | "number" | "boolean" | "string" | "list" | "choice";
  readonly help: string;
  readonly choices: readonly Choice[];
  readonly min?: number | undefined;
  readonly step: number | "any";
  /** May be left empty. */
  readonly optional: boolean;
  /** What the server takes where nothing is given. */
  readonly fallback?: Json | undefined;
}

export class SpecSchema {
  constructor(private readonly root: JsonObject) {}

  /** The field at a dotted path; a list's items lie at `*`. Where a section has several variants, `spec` says which.
   * Throws for a path that the spec does not have. */
  at(path: string, spec: JsonObject = {}): FieldSchema {
    let schema: JsonObject = this.root;
    let value: Json | undefined = spec;
    for (const key of path.split(".")) {
      const inner = this.resolved(schema);
      if (key === tagOf(inner)) return this.tagField(inner);
      const properties = this.variant(inner, value)["properties"];
      const next = key === "*" ? inner["items"] : isObject(properties) ? properties[key] : undefined;
      if (!isObject(next)) throw new Error(`the spec has no field ${path}`);
      schema = next;
      value = isObject(value) ? value[key] : undefined;
    }
    return this.field(schema);
  }

  /** The settings of a section with variants, as `spec` has it; its tag is none of them. */
  settings(section: string, spec: JsonObject): readonly string[] {
    const schema = this.section(section);
    const properties = this.variant(schema, spec[section])["properties"];
    return isObject(properties) ? Object.keys(properties).filter((key) => key !== tagOf(schema)) : [];
  }

  /** `spec` with another variant of a section: settings that mean the same in both stay, the others are the server's
   * defaults. */
  switched(section: string, tag: string, spec: JsonObject): JsonObject {
    const schema = this.section(section);
    const before = spec[section];
    const chosen: JsonObject = { [tagOf(schema) ?? ""]: tag };
    const defaults = (value: Json | undefined) => {
      const properties = this.variant(schema, value)["properties"];
      return Object.fromEntries(
        Object.entries(isObject(properties) ? properties : {}).map(([key, property]) => [
          key,
          isObject(property) ? property["default"] : undefined,
        ]),
      );
    };
    const [old, fresh] = [defaults(before), defaults(chosen)];
    const kept = Object.entries(isObject(before) ? before : {}).filter(
      ([key]) => key in fresh && !(key in chosen) && sameJson(old[key], fresh[key]),
    );
    return setPath(spec, section, { ...Object.fromEntries(kept), ...chosen });
  }

  /** The settings of a field whose kind goes by a name beside it (`settings_of` in the schema); none for other names. */
  settingsByName(path: string, name: string): readonly (readonly [string, FieldSchema])[] {
    let schema: JsonObject = this.root;
    for (const key of path.split(".")) {
      const inner = this.resolved(schema);
      const next = key === "*" ? inner["items"] : isObject(inner["properties"]) ? inner["properties"][key] : undefined;
      schema = isObject(next) ? next : {};
    }
    const kinds = schema["settings_of"];
    const kind = isObject(kinds) ? kinds[name] : undefined;
    const properties =
      kind === undefined ? undefined : this.resolved({ $ref: `#/$defs/${String(kind)}` })["properties"];
    if (!isObject(properties)) return [];
    return Object.entries(properties).flatMap(([key, one]) => (isObject(one) ? [[key, this.field(one)] as const] : []));
  }

  private section(name: string): JsonObject {
    const properties = this.root["properties"];
    const schema = isObject(properties) ? properties[name] : undefined;
    if (!isObject(schema)) throw new Error(`the spec has no section ${name}`);
    return this.resolved(schema);
  }

  /** The variant that `value` is of, or the first; a schema without variants is its own. */
  private variant(schema: JsonObject, value: Json | undefined): JsonObject {
    const tag = tagOf(schema);
    if (tag === null) return schema;
    const named = isObject(value) ? String(value[tag]) : "";
    const variants = this.variants(schema);
    return variants.find(([name]) => name === named)?.[1] ?? variants[0]?.[1] ?? schema;
  }

  /** In the server's order. */
  private variants(schema: JsonObject): [string, JsonObject][] {
    const tag = tagOf(schema) ?? "";
    const all = Array.isArray(schema["oneOf"]) ? schema["oneOf"].filter(isObject) : [];
    return all.map((one) => {
      const variant = this.resolved(one);
      const property = isObject(variant["properties"]) ? variant["properties"][tag] : undefined;
      return [isObject(property) ? String(property["const"]) : "", variant];
    });
  }

  private tagField(schema: JsonObject): FieldSchema {
    const choices = this.variants(schema).map(([value, variant]) => ({
      value,
      help: String(variant["description"] ?? "").replaceAll("`", ""),
    }));
    return { type: "choice", help: "", choices, step: "any", optional: false };
  }

  private field(schema: JsonObject): FieldSchema {
    const options = Array.isArray(schema["anyOf"]) ? schema["anyOf"].filter(isObject) : [];
    const optional = options.some((option) => option["type"] === "null");
    const inner = this.resolved(options.find((option) => option["type"] !== "null") ?? schema);
    const choices = choicesOf(inner);
    const type = choices.length > 0 ? "choice" : (TYPES[String(inner["type"])] ?? "string");
    const wholeStep = type === "integer" ? 1 : "any";
    return {
      type,
      choices,
      optional,
      fallback: schema["default"],
      help: String(schema["description"] ?? inner["description"] ?? "").replaceAll("`", ""),
      min: numberOf(inner["minimum"]),
      step: numberOf(inner["multipleOf"]) ?? wholeStep,
    };
  }

  private resolved(schema: JsonObject): JsonObject {
    const reference = schema["$ref"];
    if (typeof reference !== "string") return schema;
    const definitions = this.root["$defs"];
    const found = isObject(definitions) ? definitions[reference.split("/").at(-1) ?? ""] : undefined;
    return isObject(found) ? found : schema;
  }
}

/** The field that tells the variants of a section apart; null where it has none. */
function tagOf(schema: JsonObject): string | null {
  const discriminator = schema["discriminator"];
  return isObject(discriminator) ? String(discriminator["propertyName"]) : null;
}

const TYPES: Record<string, FieldSchema["type"]> = {
  integer: "integer",
  number: "number",
  boolean: "boolean",
  string: "string",
  array: "list",
};

function choicesOf(schema: JsonObject): Choice[] {
  const named = Array.isArray(schema["oneOf"]) ? schema["oneOf"].filter(isObject) : [];
  const plain = Array.isArray(schema["enum"]) ? schema["enum"] : [];
  const choices =
    named.length > 0
      ? named.map((choice) => ({ value: choice["const"], help: String(choice["description"] ?? "") }))
      : plain.map((value) => ({ value, help: "" }));
  return choices.filter(
    (choice): choice is Choice => typeof choice.value === "string" || typeof choice.value === "number",
  );
}

function numberOf(value: Json | undefined): number | undefined {
  return typeof value === "number" ? value : undefined;
}
