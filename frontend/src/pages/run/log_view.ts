/** What the log shows, in its address: a link shows another the same entries. Pure. */

import type { LogFilter } from "../../api/endpoints.ts";
import { type LogLevel, logLevelValues } from "../../api/schema.ts";
import { duration } from "../../base/format.ts";

export interface LogView {
  /** This severe or more. */
  readonly level: LogLevel;
  /** A lane, `driver`, `web`, or a role; empty for all. */
  readonly source: string;
  /** Id of one of `KINDS`; empty for all. */
  readonly kind: string;
  readonly search: string;
  readonly time: "clock" | "start";
  /** The entry that is looked up, by its number. */
  readonly at: number | undefined;
}

/** What comes with every batch is left out until it is asked for. */
const USUAL_LEVEL: LogLevel = "info";

/** Kinds of entries by the types of stream items that they are made of. */
export const KINDS: readonly { readonly id: string; readonly label: string; readonly types: readonly string[] }[] = [
  { id: "log", label: "Log records", types: ["log"] },
  { id: "states", label: "States and phases", types: ["transition", "state", "phase", "resumed", "software"] },
  { id: "commands", label: "Commands", types: ["command", "command_done"] },
  {
    id: "lanes",
    label: "Lanes and resizes",
    types: ["lanes", "lane_start", "lane_stall", "out_of_memory", "slow_lanes"],
  },
  { id: "lends", label: "Lends", types: ["lend"] },
  { id: "weights", label: "Checkpoints and weights", types: ["checkpoint", "adapter", "publish"] },
  { id: "results", label: "Samples and evaluations", types: ["samples", "evaluation"] },
  { id: "alarms", label: "Gates and alarms", types: ["gate", "reward_hacking"] },
  { id: "plans", label: "Plans", types: ["plan"] },
];

export function viewOf(query: string): LogView {
  const given = new URLSearchParams(query);
  const at = Number(given.get("at"));
  return {
    level: logLevelValues.find((level) => level === given.get("level")) ?? USUAL_LEVEL,
    source: given.get("source") ?? "",
    kind: KINDS.find(({ id }) => id === given.get("kind"))?.id ?? "",
    search: given.get("search") ?? "",
    time: given.get("time") === "start" ? "start" : "clock",
    at: Number.isSafeInteger(at) && at > 0 ? at : undefined,
  };
}

/** The query of a view; what is as usual is left out. */
export function queryOf(view: LogView): string {
  const query = new URLSearchParams();
  if (view.level !== USUAL_LEVEL) query.set("level", view.level);
  for (const name of ["source", "kind", "search"] as const) if (view[name]) query.set(name, view[name]);
  if (view.time !== "clock") query.set("time", view.time);
  if (view.at !== undefined) query.set("at", String(view.at));
  return query.size > 0 ? `?${query}` : "";
}

export function filterOf({ level, source, kind, search }: LogView): LogFilter {
  return {
    level: level === "debug" ? undefined : level,
    source: source || undefined,
    types: KINDS.find(({ id }) => id === kind)?.types.join(",") || undefined,
    search: search || undefined,
  };
}

export function isFiltered({ level, source, kind, search }: LogView): boolean {
  return level !== USUAL_LEVEL || Boolean(source || kind || search);
}

/** The view around an entry: whatever was filtered stood beside it. */
export const around = (view: LogView, at: number): LogView => ({
  ...view,
  level: "debug",
  source: "",
  kind: "",
  search: "",
  at,
});

/** "+1 min 12 s" after the start, "−3.0 s" before it. */
export function sinceStart(at: number, start: number): string {
  return `${at < start ? "−" : "+"}${duration(Math.abs(at - start))}`;
}

/** `text` cut where it holds what is looked for, whatever the case: every second part is a hit. */
export function partsOf(text: string, search: string): readonly string[] {
  if (!search) return [text];
  const [lower, wanted] = [text.toLowerCase(), search.toLowerCase()];
  // A few letters change their length with their case, and then places in one text mean nothing in the other.
  if (lower.length !== text.length) return [text];
  const parts: string[] = [];
  let from = 0;
  for (let hit = lower.indexOf(wanted); hit >= 0; hit = lower.indexOf(wanted, from)) {
    parts.push(text.slice(from, hit), text.slice(hit, hit + wanted.length));
    from = hit + wanted.length;
  }
  return [...parts, text.slice(from)];
}
