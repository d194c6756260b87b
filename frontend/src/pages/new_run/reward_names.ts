/** What a reward's curves are called: its label, or its scorer's name. */

import type { JsonObject } from "../../base/paths.ts";

export function rewardKey(reward: JsonObject): string {
  const label = reward["label"];
  return typeof label === "string" && label !== "" ? label : String(reward["name"]);
}
