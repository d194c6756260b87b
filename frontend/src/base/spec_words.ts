/** Values of a spec as people read them. */

import { isObject, type Json, type JsonObject } from "./paths.ts";

export function inWords(value: Json): string {
  if (value === null || value === "") return "–";
  if (Array.isArray(value))
    return value.length === 0
      ? "none"
      : value.map((item) => (isObject(item) ? rewardInWords(item) : String(item))).join(", ");
  return isObject(value) ? JSON.stringify(value) : String(value);
}

/** `shape_match × 1`, `faces (monitored)`. */
function rewardInWords(item: JsonObject): string {
  const { name, label, weight, watched } = item;
  if (name === undefined) return JSON.stringify(item);
  const called = typeof label === "string" ? label : String(name);
  return watched === true ? `${called} (monitored)` : `${called} × ${String(weight ?? 1)}`;
}
