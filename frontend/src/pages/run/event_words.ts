/** Stream items in plain words, for the event log. */

import type { RewardChange, RewardHackingFields } from "../../api/schema.ts";
import { bytes, duration, number, spelt, words } from "../../base/format.ts";
import { resizeText } from "../../base/resize_words.ts";
import type { EventItem } from "../../live/item_list.ts";

type Tone = "plain" | "good" | "bad";

export interface Described {
  readonly text: string;
  readonly tone: Tone;
}

export function describe(item: EventItem): Described {
  return { text: textOf(item), tone: toneOf(item) };
}

function textOf(item: EventItem): string {
  switch (item.type) {
    case "phase":
      return words(item.body.phase) + after(item.body.detail);
    case "lanes":
      return item.body.resize ? resizeText(item.body.resize) : `${item.body.lanes.length} lanes placed`;
    case "state":
      return `The driver reports: ${item.body.state}${after(item.body.reason)}`;
    case "transition":
      return `${item.body.old || "created"} → ${item.body.new}${after(item.body.reason)}`;
    case "resumed":
      return `Resumed after batch ${item.body.batch}, policy v${item.body.policy_version}`;
    case "samples": {
      const { samples, batch, purpose, policy_version } = item.body;
      return `${samples.length} samples of batch ${batch} (${purpose}, v${policy_version})`;
    }
    case "evaluation":
      return `Held-out evaluation after batch ${item.body.batch}: ${valuesText(item.body.values)}`;
    case "publish": {
      const { policy_version, num_tensors, num_bytes, seconds } = item.body;
      return `Published v${policy_version}: ${num_tensors} tensors, ${bytes(num_bytes)}, ${duration(seconds)}`;
    }
    case "adapter": {
      // One file is a LoRA, several are all weights.
      const what = item.body.files.length > 1 ? "weights" : "LoRA";
      const saved = item.body.final ? `Final ${what}` : words(what);
      return `${saved} of batch ${item.body.batch} saved, ${bytes(item.body.num_bytes)}`;
    }
    case "checkpoint":
      return `Checkpoint after batch ${item.body.batch}, ${bytes(item.body.num_bytes)}`;
    case "gate": {
      const { gate, passed, values } = item.body;
      return `${words(gate)} gate ${passed ? "passed" : "FAILED"}: ${valuesText(values)}`;
    }
    case "reward_hacking":
      return hackingText(item.body);
    case "plan":
      return `New plan after batch ${item.body.batch}: ${item.body.reason}`;
    case "software":
      return Object.entries(item.body.versions)
        .map(([name, version]) => `${name} ${version}`)
        .join(", ");
    case "command_done":
      return `Command ${item.body.accepted ? "done" : "refused"}${after(item.body.detail)}`;
  }
}

function hackingText(body: RewardHackingFields): string {
  const { suspected, monitored, num_batches, optimised_change, monitored_change } = body;
  const over = `over ${num_batches} batches the optimised reward changed by ${changeText(optimised_change)}`;
  const other = `the monitored ${spelt(monitored)} by ${changeText(monitored_change)}`;
  return `Reward hacking ${suspected ? "suspected" : "no longer suspected"}: ${over}, ${other}`;
}

/** "+0.12 ± 0.01". */
export function changeText({ change, standard_error }: RewardChange): string {
  return `${change < 0 ? "−" : "+"}${number(Math.abs(change), 2)} ± ${number(standard_error, 1)}`;
}

function after(detail: string): string {
  return detail ? `: ${detail}` : "";
}

function valuesText(values: Readonly<Record<string, number>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${spelt(name)} ${number(value)}`)
    .join(", ");
}

function toneOf(item: EventItem): Tone {
  switch (item.type) {
    case "transition":
      return toneOfState(item.body.new);
    case "state":
      return toneOfState(item.body.state);
    case "gate":
      return item.body.passed ? "plain" : "bad";
    case "reward_hacking":
      return item.body.suspected ? "bad" : "good";
    case "command_done":
      return item.body.accepted ? "plain" : "bad";
    case "lanes":
      return item.body.resize?.state === "failed" ? "bad" : "plain";
    case "adapter":
    case "evaluation":
      return "good";
    default:
      return "plain";
  }
}

function toneOfState(state: string): Tone {
  if (state === "failed") return "bad";
  return state === "completed" ? "good" : "plain";
}
