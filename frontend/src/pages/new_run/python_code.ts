/** The Python that does what the form's button does, with nothing but the standard library. */

import type { NewRun } from "../../api/schema.ts";
import { isList, isObject, type Json } from "../../base/paths.ts";

export function equivalentPython(origin: string, body: NewRun): string {
  return `import json
import os
import urllib.request

run = ${literal(body as unknown as Json)}

request = urllib.request.Request(
    "${origin}/api/v1/runs",
    data=json.dumps(run).encode(),
    headers={
        "Authorization": f"Bearer {os.environ['TANDEM_TOKEN']}",
        "Content-Type": "application/json",
    },
)
with urllib.request.urlopen(request) as answer:
    print("${origin}/runs/" + json.load(answer)["id"])
`;
}

/** A value as Python writes it. What JSON escapes in a string, Python escapes alike. */
export function literal(value: Json, indent = ""): string {
  const inner = `${indent}    `;
  const lines = (open: string, items: readonly string[], close: string) =>
    items.length === 0
      ? open + close
      : `${open}\n${items.map((item) => `${inner}${item},\n`).join("")}${indent}${close}`;
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (isList(value))
    return lines(
      "[",
      value.map((item) => literal(item, inner)),
      "]",
    );
  if (!isObject(value)) return JSON.stringify(value);
  const items = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${literal(item, inner)}`);
  return lines("{", items, "}");
}
