/** The classes of lane time, their labels and colours: one list for timeline, legend and bubble bars. */

import type { IdleCause, SpanKind } from "../api/schema.ts";

export interface SpanClass {
  readonly kind: string;
  readonly label: string;
  /** Custom property that holds its colour. */
  readonly colour: string;
}

/** In the order of the legend. */
const KINDS: Readonly<Record<SpanKind, { readonly label: string; readonly colour: string }>> = {
  generate: { label: "Generate", colour: "--span-generate" },
  lent_generate: { label: "Lent generate", colour: "--span-lent-generate" },
  decode: { label: "Decode", colour: "--span-decode" },
  encode: { label: "Encode prompts", colour: "--span-encode" },
  score: { label: "Score", colour: "--span-score" },
  train: { label: "Train", colour: "--span-train" },
  publish: { label: "Publish", colour: "--span-publish" },
  pull: { label: "Pull", colour: "--span-pull" },
  switch: { label: "Switch role", colour: "--span-switch" },
  evaluate: { label: "Evaluate", colour: "--span-evaluate" },
  checkpoint: { label: "Checkpoint", colour: "--span-checkpoint" },
  pause: { label: "Paused", colour: "--span-pause" },
  idle: { label: "Idle", colour: "--span-idle" },
};

const CAUSES: Readonly<Record<IdleCause, string>> = {
  dispatch: "between two calls",
  no_fragment_ready: "no fragment ready",
  head_of_line: "waiting for an earlier index",
  group_incomplete: "group incomplete",
  reward_pending: "reward pending",
  batch_barrier: "batch barrier",
  gang_barrier: "waiting for other trainer ranks",
  back_pressure: "back-pressure",
  publish_wait: "waiting for a new version",
  start_up: "starting up",
  drain: "nothing left to do",
  failure: "failure",
  resize: "being resized",
};

/** Every kind of span, idle last. */
export const SPAN_CLASSES: readonly SpanClass[] = Object.entries(KINDS).map(([kind, known]) => ({ kind, ...known }));

const byKind = new Map(SPAN_CLASSES.map((known) => [known.kind, known]));

/** The class of a kind; one that only the server knows, such as `unaccounted`, is named by its own words. */
export function classOf(kind: string): SpanClass {
  return byKind.get(kind) ?? { kind, label: kind.replaceAll("_", " "), colour: "--ink-3" };
}

export function causeLabel(cause: string): string {
  const known: Readonly<Record<string, string>> = CAUSES;
  return known[cause] ?? cause.replaceAll("_", " ");
}

/** `idle:head_of_line` or `train`, as `/bubbles` names classes. */
export function parseClass(name: string): { known: SpanClass; cause: string | null } {
  const [kind = name, cause] = name.split(":");
  return { known: classOf(kind), cause: cause ?? null };
}

export function classLabel(name: string): string {
  const { known, cause } = parseClass(name);
  return cause === null ? known.label : `${known.label}: ${causeLabel(cause)}`;
}
