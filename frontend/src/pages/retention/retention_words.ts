/** What is kept and deleted, in words. Pure. */

import type { DeletionPreview, Operation, RetentionKind } from "../../api/schema.ts";
import { bytes, number } from "../../base/format.ts";

export const HOLDS: Readonly<Record<RetentionKind, string>> = {
  telemetry: "Spans of the timeline, and the events that reported spans and metrics. Curves stay.",
  samples: "Pictures and clips, with their prompts and rewards.",
  logs: "Log records of drivers and lanes.",
  "scheduler events": "Schedule logs, by which a run is replayed.",
};

export interface Sums {
  readonly num_runs: number;
  readonly num_rows: number;
  readonly num_files: number;
  readonly num_bytes: number;
}

export function sumsOf(preview: DeletionPreview): Sums {
  const sum = (field: "num_rows" | "num_files" | "num_bytes") =>
    preview.kinds.reduce((total, kind) => total + kind[field], 0);
  const num_runs = new Set(preview.shares.map((share) => share.run_id)).size;
  return { num_runs, num_rows: sum("num_rows"), num_files: sum("num_files"), num_bytes: sum("num_bytes") };
}

export function keptFor(days: number): string {
  return days === 0 ? "for good" : days === 1 ? "1 day" : `${number(days)} days`;
}

const counted = (count: number, noun: string) => `${count.toLocaleString("en-GB")} ${count === 1 ? noun : `${noun}s`}`;

/** What goes, such as "9 rows and 2 files of 1 run, about 12 KiB". */
export function sumsText({ num_runs, num_rows, num_files, num_bytes }: Sums): string {
  const items = `${counted(num_rows, "row")} and ${counted(num_files, "file")}`;
  return `${items} of ${counted(num_runs, "run")}, about ${bytes(num_bytes)}`;
}

/** A day as the audit log has it: years matter here. */
export function day(iso: string | null): string {
  return iso === null ? "–" : iso.slice(0, 10);
}

/** From the first run's end to the last's. */
export function days(oldest: string | null, newest: string | null): string {
  return day(oldest) === day(newest) ? day(oldest) : `${day(oldest)} to ${day(newest)}`;
}

export const isUnderWay = ({ state }: Operation) => state === "waiting" || state === "running";
/** The class of a pill, which are named after states of runs. */
export const PILL: Readonly<Record<Operation["state"], string>> = {
  waiting: "queued",
  running: "running",
  succeeded: "completed",
  failed: "failed",
  cancelled: "cancelled",
};
