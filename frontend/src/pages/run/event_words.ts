/** Stream items in plain words, for the event log. */

import type { StreamItem } from "../../api/types.ts";
import { bytes, duration, number, spelt, words } from "../../base/format.ts";

type Body = Record<string, unknown>;
type Tone = "plain" | "good" | "bad";

export interface Described {
  readonly text: string;
  readonly tone: Tone;
}

const list = (value: unknown) => (Array.isArray(value) ? value : []);

const WORDS: Record<string, (body: Body) => string> = {
  phase: (body) => `${words(String(body["phase"]))}${body["detail"] ? `: ${body["detail"]}` : ""}`,
  lanes: (body) => `${list(body["lanes"]).length} lanes placed`,
  state: (body) => `The driver says: ${body["state"]}${body["reason"] ? `: ${body["reason"]}` : ""}`,
  transition: (body) => `${body["old"] || "created"} → ${body["new"]}${body["reason"] ? `: ${body["reason"]}` : ""}`,
  resumed: (body) => `Resumed after batch ${body["batch"]}, policy v${body["policy_version"]}`,
  samples: (body) =>
    `${list(body["samples"]).length} samples of batch ${body["batch"]} (${body["purpose"]}, v${body["policy_version"]})`,
  evaluation: (body) => `Held-out evaluation after batch ${body["batch"]}: ${values(body["values"])}`,
  publish: (body) =>
    `Published v${body["policy_version"]}: ${body["num_tensors"]} tensors, ${bytes(Number(body["num_bytes"]))}, ${duration(Number(body["seconds"]))}`,
  adapter: (body) => `${saved(body)} of batch ${body["batch"]} saved, ${bytes(Number(body["num_bytes"]))}`,
  checkpoint: (body) => `Checkpoint after batch ${body["batch"]}, ${bytes(Number(body["num_bytes"]))}`,
  gate: (body) =>
    `${words(String(body["gate"]))} gate ${body["passed"] ? "passed" : "FAILED"}: ${values(body["values"])}`,
  command_done: (body) =>
    `Command ${body["accepted"] ? "done" : "refused"}${body["detail"] ? `: ${body["detail"]}` : ""}`,
};

/** One file is a LoRA, several are all weights. */
function saved(body: Body): string {
  const what = list(body["files"]).length > 1 ? "weights" : "LoRA";
  return body["final"] ? `Final ${what}` : words(what);
}

function values(raw: unknown): string {
  return Object.entries((raw ?? {}) as Record<string, number>)
    .map(([name, value]) => `${spelt(name)} ${number(value)}`)
    .join(", ");
}

export function describe(item: StreamItem): Described {
  const text = WORDS[item.type]?.(item.body) ?? JSON.stringify(item.body);
  return { text, tone: toneOf(item) };
}

function toneOf({ type, body }: StreamItem): Tone {
  const state = type === "transition" ? body["new"] : body["state"];
  if (
    state === "failed" ||
    (type === "gate" && body["passed"] === false) ||
    (type === "command_done" && body["accepted"] === false)
  )
    return "bad";
  if (state === "completed" || type === "adapter" || type === "evaluation") return "good";
  return "plain";
}
