/** The JSON schema of a run's spec as the form reads it: each field's help, bounds and choices, and where it does not
 * apply. Everything comes from the schema, so that a new reward, family or bound needs no change here. */

import type { Inapplicable } from "../../api/schema.ts";
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
  /** The value that the server takes where none is given. */
  readonly fallback?: Json | undefined;
}

/** The part of JSON Schema that pydantic writes, with the spec's own keywords. */
export interface SchemaNode {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, SchemaNode>>;
  readonly type?: string;
  readonly description?: string;
  readonly default?: Json;
  readonly const?: Json;
  readonly enum?: readonly Json[];
  readonly minimum?: number;
  readonly multipleOf?: number;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
  readonly oneOf?: readonly SchemaNode[];
  readonly discriminator?: { readonly propertyName: string };
  /** Name of the definition that holds a field's settings, by the name given beside it. */
  readonly settings_of?: Readonly<Record<string, string>>;
  readonly inapplicable?: readonly Inapplicable[];
}

export class SpecSchema {
  constructor(private readonly root: SchemaNode) {}

  /** The rules by which fields do not apply beside others. */
  get inapplicable(): readonly Inapplicable[] {
    return this.root.inapplicable ?? [];
  }

  /** The field at a dotted path; a list's items lie at `*` or at their index. Where a section has several variants,
   * `spec` says which. Throws for a path that the spec does not have. */
  at(path: string, spec: JsonObject = {}): FieldSchema {
    let node = this.root;
    let value: Json | undefined = spec;
    for (const key of path.split(".")) {
      const inner = this.resolved(node);
      if (key === inner.discriminator?.propertyName) return this.tagField(inner);
      const next: SchemaNode | undefined = inner.items ?? this.variant(inner, value).properties?.[key];
      if (!next) throw new Error(`the spec has no field ${path}`);
      node = next;
      value = isObject(value) ? value[key] : undefined;
    }
    return this.field(node);
  }

  /** Every field by its dotted path, in the server's order; a list or a section with variants is one field. */
  paths(node: SchemaNode = this.root, prefix = ""): string[] {
    return Object.entries(this.resolved(node).properties ?? {}).flatMap(([key, field]) =>
      this.resolved(field).properties ? this.paths(field, `${prefix}${key}.`) : [`${prefix}${key}`],
    );
  }

  /** The settings of a section with variants, as `spec` has it; its tag is none of them. */
  settings(section: string, spec: JsonObject): readonly string[] {
    const node = this.section(section);
    const keys = Object.keys(this.variant(node, spec[section]).properties ?? {});
    return keys.filter((key) => key !== node.discriminator?.propertyName);
  }

  /** `spec` with another variant of a section: settings that mean the same in both stay, the others are the server's
   * defaults. */
  switched(section: string, tag: string, spec: JsonObject): JsonObject {
    const node = this.section(section);
    const before = spec[section];
    const chosen: JsonObject = { [node.discriminator?.propertyName ?? ""]: tag };
    const properties = (value: Json | undefined) => this.variant(node, value).properties ?? {};
    const [old, fresh] = [properties(before), properties(chosen)];
    const kept = Object.entries(isObject(before) ? before : {}).filter(
      ([key]) => key in fresh && !(key in chosen) && sameJson(old[key]?.default, fresh[key]?.default),
    );
    return setPath(spec, section, { ...Object.fromEntries(kept), ...chosen });
  }

  /** The settings of a field whose kind depends on a name beside it (`settings_of`); none for other names. */
  settingsByName(path: string, name: string): readonly (readonly [string, FieldSchema])[] {
    let node = this.root;
    for (const key of path.split(".")) {
      const inner = this.resolved(node);
      node = inner.items ?? inner.properties?.[key] ?? {};
    }
    const kind = node.settings_of?.[name];
    const properties = kind === undefined ? {} : (this.resolved({ $ref: kind }).properties ?? {});
    return Object.entries(properties).map(([key, one]) => [key, this.field(one)] as const);
  }

  private section(name: string): SchemaNode {
    const node = this.root.properties?.[name];
    if (!node) throw new Error(`the spec has no section ${name}`);
    return this.resolved(node);
  }

  /** The variant that `value` is of, or the first; a schema without variants is its own. */
  private variant(node: SchemaNode, value: Json | undefined): SchemaNode {
    const tag = node.discriminator?.propertyName;
    if (tag === undefined) return node;
    const wanted = isObject(value) ? value[tag] : undefined;
    const variants = this.variants(node);
    return variants.find(([name]) => name === wanted)?.[1] ?? variants[0]?.[1] ?? node;
  }

  /** In the server's order. */
  private variants(node: SchemaNode): [string, SchemaNode][] {
    const tag = node.discriminator?.propertyName ?? "";
    return (node.oneOf ?? []).map((one) => {
      const variant = this.resolved(one);
      return [String(variant.properties?.[tag]?.const ?? ""), variant];
    });
  }

  private tagField(node: SchemaNode): FieldSchema {
    const choices = this.variants(node).map(([value, variant]) => ({ value, help: plain(variant.description) }));
    const fallback = isObject(node.default) ? node.default[node.discriminator?.propertyName ?? ""] : undefined;
    return { type: "choice", help: "", choices, step: "any", optional: false, fallback };
  }

  private field(node: SchemaNode): FieldSchema {
    const options = node.anyOf ?? [];
    const inner = this.resolved(options.find((option) => option.type !== "null") ?? node);
    const choices = choicesOf(inner);
    const type = choices.length > 0 ? "choice" : (TYPES[inner.type ?? ""] ?? "string");
    return {
      type,
      choices,
      optional: options.some((option) => option.type === "null"),
      fallback: node.default,
      help: plain(node.description ?? inner.description),
      min: inner.minimum,
      step: inner.multipleOf ?? (type === "integer" ? 1 : "any"),
    };
  }

  /** What a reference leads to: a definition of the same document, known by the last part of its address. */
  private resolved(node: SchemaNode): SchemaNode {
    if (node.$ref === undefined) return node;
    return this.root.$defs?.[node.$ref.split("/").at(-1) ?? ""] ?? node;
  }
}

const TYPES: Readonly<Record<string, FieldSchema["type"]>> = {
  integer: "integer",
  number: "number",
  boolean: "boolean",
  string: "string",
  array: "list",
};

function choicesOf(node: SchemaNode): Choice[] {
  const choices = node.oneOf
    ? node.oneOf.map((choice) => ({ value: choice.const, help: choice.description ?? "" }))
    : (node.enum ?? []).map((value) => ({ value, help: "" }));
  return choices.filter(
    (choice): choice is Choice => typeof choice.value === "string" || typeof choice.value === "number",
  );
}

/** Help without backticks: only error messages are shown with code marked. */
function plain(text = ""): string {
  return text.replaceAll("`", "");
}
