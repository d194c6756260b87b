/** What the server says of each field of a run's spec: its help, its bounds, its choices. Read from the JSON schema, so
 * that a new reward, family or bound needs no change here. */

import { isObject, type Json, type JsonObject } from "../../base/paths.ts";

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
}

export class SpecSchema {
  constructor(private readonly root: JsonObject) {}

  /** The field at a dotted path; a list's items lie at `*`. Throws for a path that the spec does not have. */
  at(path: string): FieldSchema {
    let schema: JsonObject = this.root;
    for (const key of path.split(".")) {
      const inner = this.resolved(schema);
      const next = key === "*" ? inner["items"] : isObject(inner["properties"]) ? inner["properties"][key] : undefined;
      if (!isObject(next)) throw new Error(`the spec has no field ${path}`);
      schema = next;
    }
    return this.field(schema);
  }

  private field(schema: JsonObject): FieldSchema {
    const options = Array.isArray(schema["anyOf"]) ? schema["anyOf"].filter(isObject) : [];
    const optional = options.some((option) => option["type"] === "null");
    const inner = this.resolved(options.find((option) => option["type"] !== "null") ?? schema);
    const choices = choicesOf(inner);
    const type = choices.length > 0 ? "choice" : (TYPES[String(inner["type"])] ?? "string");
    const wholeStep = type === "integer" ? 1 : "any";
    return {
      type, choices, optional,
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

const TYPES: Record<string, FieldSchema["type"]> = {
  integer: "integer", number: "number", boolean: "boolean", string: "string", array: "list",
};

function choicesOf(schema: JsonObject): Choice[] {
  const named = Array.isArray(schema["oneOf"]) ? schema["oneOf"].filter(isObject) : [];
  const plain = Array.isArray(schema["enum"]) ? schema["enum"] : [];
  const choices = named.length > 0
    ? named.map((choice) => ({ value: choice["const"], help: String(choice["description"] ?? "") }))
    : plain.map((value) => ({ value, help: "" }));
  return choices.filter((choice): choice is Choice => typeof choice.value === "string" || typeof choice.value === "number");
}

function numberOf(value: Json | undefined): number | undefined {
  return typeof value === "number" ? value : undefined;
}
