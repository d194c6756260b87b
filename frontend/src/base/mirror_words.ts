/** Mirrors in words: what each kind is, and how far it has got with a run. Pure. */

import type { MirroredRun, MirrorKind } from "../api/schema.ts";
import { ago, duration, unixSeconds } from "./format.ts";

export const KIND_WORDS: Readonly<Record<MirrorKind, string>> = {
  wandb: "W&B",
  wandb_offline: "W&B, offline",
  mlflow: "MLflow",
  tensorboard: "TensorBoard",
};

export type MirrorHealth = "good" | "waiting" | "failing" | "off";

export function healthOf({ state, error, is_active }: MirroredRun): MirrorHealth {
  if (state === "done") return "good";
  if (!is_active) return "off";
  if (state === "given_up" || error) return "failing";
  return "waiting";
}

/** How far the mirror has got, in a few words. */
export function progressWords(row: MirroredRun): string {
  if (row.state === "done") return row.accepted_at === null ? "the run reported nothing" : "all of it";
  if (row.accepted_at === null) return "nothing yet";
  const behind = row.num_batches_behind;
  return `up to batch ${row.batch}${behind === 0 ? "" : `, ${behind} behind`}`;
}

/** What comes next, or why nothing does; `now` in Unix seconds. */
export function nextWords(row: MirroredRun, now: number): string {
  const { state, num_failures, is_active } = row;
  if (state === "done") return "";
  if (!is_active) return "the mirror is off";
  const tries = num_failures === 1 ? "1 try" : `${num_failures} tries`;
  if (state === "given_up") return `given up after ${tries}`;
  if (row.begun_at !== null) return "being written";
  const next = unixSeconds(row.next_at);
  const left = next === null ? 0 : Math.floor(next - now);
  const when = left > 0 ? `in ${duration(left)}` : "now";
  if (num_failures > 0) return `${tries} failed, tried again ${when}`;
  const accepted = unixSeconds(row.accepted_at);
  return accepted === null ? `first written ${when}` : `written ${ago(now - accepted)}`;
}
