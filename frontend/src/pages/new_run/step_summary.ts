/** What is chosen in a step of the form, in one line. Pure. */

import { isList, type Json } from "../../base/paths.ts";
import { PROMPTS } from "./fields.ts";
import { rewardsIn } from "./reward_list.ts";
import type { StepId } from "./steps.ts";

/** What stands at a path of the spec, or what the server takes for it. */
type Read = (path: string) => Json | undefined;

const text = (read: Read, path: string): string => {
  const value = read(path);
  return value === null || value === undefined ? "" : String(value);
};
const counted = (count: number, noun: string) => `${count} ${count === 1 ? noun : `${noun}s`}`;
const on = (read: Read, path: string, word: string) => (read(path) === true ? word : "");

const SUMMARIES: Readonly<Record<StepId, (read: Read) => readonly string[]>> = {
  model: (read) => [
    text(read, "base_model.path").split("/").at(-1) ?? "",
    text(read, "tuning") === "full" ? "all weights" : `LoRA rank ${text(read, "lora.rank")}`,
    `${text(read, "sampling.width")} × ${text(read, "sampling.height")}`,
  ],
  prompts: (read) => {
    const inline = read(PROMPTS.inline);
    const held = read("evaluation.prompts");
    return [
      text(read, PROMPTS.set) ? "an uploaded set" : counted(isList(inline) ? inline.length : 0, "prompt"),
      isList(held) && held.length > 0 ? `${held.length} held out` : "",
    ];
  },
  rewards: (read) => {
    const rewards = rewardsIn(read("rewards"));
    const trained = rewards.filter((reward) => reward.watched !== true);
    const numMonitored = rewards.length - trained.length;
    return [
      trained.map((reward) => String(reward.label ?? reward.name)).join(" + ") || "none yet",
      numMonitored > 0 ? `${numMonitored} monitored` : "",
      text(read, "algorithm.name"),
    ];
  },
  budget: (read) => [
    `${text(read, "num_batches")} batches`,
    `of ${text(read, "batch.num_prompts_per_batch")} × ${text(read, "batch.group_size")}`,
    `${text(read, "lanes.num_rollout")} + ${text(read, "lanes.num_trainer")} + ${text(read, "lanes.num_reward")} lanes`,
  ],
  advanced: (read) => [
    text(read, "pipeline.placement"),
    on(read, "pipeline.gap", "gap"),
    on(read, "pipeline.tsp", "tsp"),
    ["", "off"].includes(text(read, "pipeline.tag")) ? "" : `${text(read, "pipeline.tag")} lending`,
    text(read, "pipeline.max_staleness") === "1" ? "staleness 1" : "",
  ],
};

/** What is chosen in a step, in one line. */
export function summaryOf(step: StepId, read: Read): string {
  return SUMMARIES[step](read).filter(Boolean).join(" · ");
}
