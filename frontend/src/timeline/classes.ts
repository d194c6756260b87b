/** The classes of lane time, their names and colours: one list for timeline, legend and bubble bars. */

export interface SpanClass {
  readonly kind: string;
  readonly label: string;
  /** Custom property that holds its colour. */
  readonly colour: string;
}

export const WORK_CLASSES: readonly SpanClass[] = [
  { kind: "generate", label: "Generate", colour: "--span-generate" },
  { kind: "lent_generate", label: "Lent generate", colour: "--span-lent-generate" },
  { kind: "decode", label: "Decode", colour: "--span-decode" },
  { kind: "encode", label: "Encode prompts", colour: "--span-encode" },
  { kind: "score", label: "Score", colour: "--span-score" },
  { kind: "train", label: "Train", colour: "--span-train" },
  { kind: "publish", label: "Publish", colour: "--span-publish" },
  { kind: "pull", label: "Pull", colour: "--span-pull" },
  { kind: "switch", label: "Switch role", colour: "--span-switch" },
  { kind: "evaluate", label: "Evaluate", colour: "--span-evaluate" },
  { kind: "checkpoint", label: "Checkpoint", colour: "--span-checkpoint" },
  { kind: "pause", label: "Paused", colour: "--span-pause" },
];

export const IDLE_CLASS: SpanClass = { kind: "idle", label: "Idle", colour: "--span-idle" };

const CAUSES: Record<string, string> = {
  no_fragment_ready: "no fragment ready",
  head_of_line: "waiting for an earlier index",
  group_incomplete: "group incomplete",
  reward_pending: "reward pending",
  batch_barrier: "batch barrier",
  back_pressure: "back-pressure",
  publish_wait: "waiting for a new version",
  start_up: "starting up",
  drain: "nothing left to do",
  failure: "failure",
};

const byKind = new Map([...WORK_CLASSES, IDLE_CLASS].map((known) => [known.kind, known]));

export function classOf(kind: string): SpanClass {
  return byKind.get(kind) ?? { kind, label: kind.replaceAll("_", " "), colour: "--ink-3" };
}

export function causeLabel(cause: string): string {
  return CAUSES[cause] ?? cause.replaceAll("_", " ");
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
