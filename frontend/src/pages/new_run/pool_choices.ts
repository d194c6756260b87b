/** The pools that the form offers: what the schema cannot know, since admins make them. */

import type { Pool } from "../../api/schema.ts";
import type { Json } from "../../base/paths.ts";
import type { FieldSchema } from "./spec_schema.ts";

export const POOL_PATH = "lanes.pool";

/** The field's schema with the pools as choices; the value chosen stays among them. As it is until pools are known. */
export function withPools(
  schema: FieldSchema,
  pools: readonly Pool[],
  project: string,
  value: Json | undefined,
): FieldSchema {
  if (pools.length === 0) return schema;
  const choices = pools.map((pool) => ({ value: pool.name, help: helpOf(pool, project) }));
  const isKnown = typeof value !== "string" || pools.some((pool) => pool.name === value);
  const gone = isKnown ? [] : [{ value, help: "There is no such pool." }];
  return { ...schema, type: "choice", choices: [...choices, ...gone] };
}

function helpOf(pool: Pool, project: string): string {
  if (pool.kept_out.includes(project)) return "The project may not use this pool.";
  const of = pool.description ? `${pool.description.replace(/\.$/, "")}: ` : "";
  return `${of}${devicesOf(pool)}; ${pool.num_waiting} waiting.`;
}

/** How many lanes of each device, such as "8 NVIDIA H100, 4 cpu". */
function devicesOf(pool: Pool): string {
  const numbers = new Map<string, number>();
  for (const { device, number } of pool.lanes) numbers.set(device, (numbers.get(device) ?? 0) + number);
  return [...numbers].map(([device, number]) => `${number} ${device}`).join(", ") || "no lanes";
}
