/** Dotted paths into plain JSON: what the form edits, what errors name, what a comparison lists. */

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

export function getPath(root: Json | undefined, path: string): Json | undefined {
  let value: Json | undefined = root;
  for (const key of path.split(".")) {
    if (isList(value)) value = value[Number(key)];
    else if (isObject(value)) value = value[key];
    else return undefined;
  }
  return value;
}

/** A copy of `root` with `value` at `path`; the branches not touched are shared. `undefined` removes the key. Numbers
 * index a list, and reach no further than its items. */
export function setPath(root: JsonObject, path: string, value: Json | undefined): JsonObject {
  const [head = "", ...rest] = path.split(".");
  if (rest.length > 0) return { ...root, [head]: setBelow(root[head], rest, value) };
  if (value !== undefined) return { ...root, [head]: value };
  const { [head]: _removed, ...others } = root;
  return others;
}

function setBelow(child: Json | undefined, path: readonly string[], value: Json | undefined): Json {
  if (!isList(child)) return setPath(isObject(child) ? child : {}, path.join("."), value);
  const [index = "", ...rest] = path;
  const put = (item: Json): Json => (rest.length === 0 ? (value ?? null) : setBelow(item, rest, value));
  return child.map((item, at) => (String(at) === index ? put(item) : item));
}

export function sameJson(left: Json | undefined, right: Json | undefined): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}

/** Every leaf by its dotted path, in reading order. A list is one leaf: its items mean nothing apart. */
export function leaves(root: JsonObject, prefix = ""): Map<string, Json> {
  const found = new Map<string, Json>();
  for (const [key, value] of Object.entries(root)) {
    const path = prefix ? `${prefix}.${key}` : key;
    if (isObject(value)) for (const [inner, leaf] of leaves(value, path)) found.set(inner, leaf);
    else found.set(path, value);
  }
  return found;
}

export interface Difference {
  readonly path: string;
  /** The value in each document; undefined where it has none. */
  readonly values: readonly (Json | undefined)[];
}

/** The paths on which the documents do not all agree. */
export function differences(documents: readonly JsonObject[]): Difference[] {
  const flat = documents.map((document) => leaves(document));
  const paths = new Set(flat.flatMap((leaf) => [...leaf.keys()]));
  return [...paths]
    .map((path) => ({ path, values: flat.map((leaf) => leaf.get(path)) }))
    .filter(({ values }) => values.some((value) => !sameJson(value, values[0])));
}
