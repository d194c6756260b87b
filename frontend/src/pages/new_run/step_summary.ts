/** What is chosen in a step of the form, in one line. Pure. */

import { getPath, isList, type JsonObject } from "../../base/paths.ts";
import { PROMPTS } from "./fields.ts";
import { rewardsIn } from "./reward_list.ts";
import type { StepId } from "./steps.ts";

const text = (spec: JsonObject, path: string): string => {
  const value = getPath(spec, path);
  return value === null || value === undefined ? "" : String(value);
};
const counted = (count: number, noun: string) => `${count} ${count === 1 ? noun : `${noun}s`}`;
const on = (spec: JsonObject, path: string, word: string) => (getPath(spec, path) === true ? word : "");

const SUMMARIES: Readonly<Record<StepId, (spec: JsonObject) => readonly string[]>> = {
  model: (spec) => [
    text(spec, "base_model.path").split("/").at(-1) ?? "",
    text(spec, "tuning") === "full" ? "all weights" : `LoRA rank ${text(spec, "lora.rank")}`,
    `${text(spec, "sampling.width")} × ${text(spec, "sampling.height")}`,
  ],
  prompts: (spec) => {
    const inline = getPath(spec, PROMPTS.inline);
    const held = getPath(spec, "evaluation.prompts");
    return [
      text(spec, PROMPTS.set) ? "an uploaded set" : counted(isList(inline) ? inline.length : 0, "prompt"),
      isList(held) && held.length > 0 ? `${held.length} held out` : "",
    ];
  },
  rewards: (spec) => {
    const rewards = rewardsIn(getPath(spec, "rewards"));
    const trained = rewards.filter((reward) => reward.watched !== true);
    const numMonitored = rewards.length - trained.length;
    return [
      trained.map((reward) => String(reward.label ?? reward.name)).join(" + ") || "none yet",
      numMonitored > 0 ? `${numMonitored} monitored` : "",
      text(spec, "algorithm.name"),
    ];
  },
  budget: (spec) => [
    `${text(spec, "num_batches")} batches`,
    `of ${text(spec, "batch.num_prompts_per_batch")} × ${text(spec, "batch.group_size")}`,
    `${text(spec, "lanes.num_rollout")} + ${text(spec, "lanes.num_trainer")} + ${text(spec, "lanes.num_reward")} lanes`,
  ],
  advanced: (spec) => [
    text(spec, "pipeline.placement"),
    on(spec, "pipeline.gap", "gap"),
    on(spec, "pipeline.tsp", "tsp"),
    ["", "off"].includes(text(spec, "pipeline.tag")) ? "" : `${text(spec, "pipeline.tag")} lending`,
    text(spec, "pipeline.max_staleness") === "1" ? "staleness 1" : "",
  ],
};

/** What is chosen in a step, in one line. */
export function summaryOf(step: StepId, spec: JsonObject): string {
  return SUMMARIES[step](spec).filter(Boolean).join(" · ");
}
