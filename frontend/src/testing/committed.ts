/** Files of the repository that tests read. Paths are those of the compiled tests, below `build/unit/src/testing`. */

import { readFileSync } from "node:fs";
import type { RunSpec } from "../api/schema.ts";
import { type SchemaNode, SpecSchema } from "../pages/new_run/spec_schema.ts";

const FRONTEND = new URL("../../../../", import.meta.url);

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(new URL(path, FRONTEND), "utf8"));
}

/** The glossary of the documentation, as Markdown. */
export function glossaryPage(): string {
  return readFileSync(new URL("../deploy/docs/reference/glossary.md", FRONTEND), "utf8");
}

/** A style sheet's text. */
export function stylesheet(name: string): string {
  return readFileSync(new URL(`src/styles/${name}.css`, FRONTEND), "utf8");
}

/** A file that is served as it is. */
export function publicFile(name: string): string {
  return readFileSync(new URL(`public/tandem/${name}`, FRONTEND), "utf8");
}

interface OpenApi {
  readonly components: { readonly schemas: Readonly<Record<string, SchemaNode>> };
}

const components = () => (readJson("openapi.json") as OpenApi).components.schemas;

/** The committed schema of a run's spec, as the form reads it. */
export function specSchema(): SpecSchema {
  const schemas = components();
  return new SpecSchema({ ...schemas.RunSpec, $defs: schemas });
}

/** The contract's default of every section of a spec that has one. */
export function specDefaults(): Omit<RunSpec, "prompts" | "rewards"> {
  const sections = Object.entries(components().RunSpec?.properties ?? {});
  const defaults = sections.flatMap(([name, node]) => (node.default === undefined ? [] : [[name, node.default]]));
  return Object.fromEntries(defaults) as Omit<RunSpec, "prompts" | "rewards">;
}

/** Spans with the sums that the bubble ledger makes of them: see `tests/scheduling/timeline/bubble_sums.py`. */
export interface BubbleSums {
  readonly by_lane: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly by_class: Readonly<Record<string, number>>;
  readonly busy_share_by_lane: Readonly<Record<string, number>>;
  readonly busy_share: number;
  readonly total_seconds: number;
}

export function bubbleSums(): BubbleSums {
  return readJson("../tests/scheduling/timeline/bubble_sums.json") as BubbleSums;
}
