/** What the story of a fragment says, for its inspector. Pure. */

import type { FragmentStep, FragmentStory, TimelineSpan } from "../../api/schema.ts";
import { clock, duration } from "../../base/format.ts";
import { groupText } from "./sample_facts.ts";

/** Where a fragment stands; `batch` counts from 0, as spans do. */
export interface FragmentAddress {
  readonly batch: number;
  readonly group: number;
  readonly fragment: number;
}

/** The training fragment that a span worked on; null for any other work, and for spans drawn as one. */
export function fragmentOf(span: TimelineSpan): FragmentAddress | null {
  const { batch, group, fragment } = span;
  if (span.kind === "evaluate" || batch === null || group === null || fragment === null) return null;
  return { batch, group, fragment };
}

/** Whether a span is no part of the story: a held-out fragment may have the numbers of one that is trained on. */
export function isHeldOut(span: TimelineSpan, { steps }: FragmentStory): boolean {
  const has = ({ kind, lane, start, end }: FragmentStep) =>
    kind === span.kind && lane === span.lane && start <= span.start && span.end <= end;
  return span.kind === "score" && !steps.some(has);
}

interface StepBar {
  readonly step: FragmentStep;
  /** In percent of the time from the first step's begin to the last one's end. */
  readonly left: number;
  readonly width: number;
  /** Seconds from the first step's begin. */
  readonly after: number;
}

export function stepBars(steps: readonly FragmentStep[]): StepBar[] {
  const from = Math.min(...steps.map(({ start }) => start));
  const whole = Math.max(...steps.map(({ end }) => end)) - from || 1;
  return steps.map((step) => ({
    step,
    left: ((step.start - from) / whole) * 100,
    width: ((step.end - step.start) / whole) * 100,
    after: step.start - from,
  }));
}

/** Everything but prompt and steps, by name. */
export function storyFacts(story: FragmentStory): [string, string][] {
  const { members, outcome, steps } = story;
  const [first, last] = [members[0], members.at(-1)];
  const facts: [string, string][] = [["Members", first === last ? `${first}` : `${first} to ${last}`]];
  if (outcome) facts.push(["Group", groupText(outcome)]);
  if (outcome) facts.push(["Zero spread", outcome.has_spread ? "no" : "yes: it teaches nothing"]);
  if (story.policy_version !== null) facts.push(["Policy version", `v${story.policy_version}`]);
  facts.push(["Began", clock(steps[0]?.start ?? null)], ["Took", lifetime(steps)]);
  if (outcome && outcome.num_dropped_draws > 0) facts.push(["Draws dropped", String(outcome.num_dropped_draws)]);
  if (outcome && outcome.num_repeated_fragments > 0)
    facts.push(["Fragments generated again", String(outcome.num_repeated_fragments)]);
  if (outcome && outcome.num_missing > 0) facts.push(["Scores missing", String(outcome.num_missing)]);
  if (story.attempt > 1) facts.push(["Attempt", String(story.attempt)]);
  return facts;
}

/** From noise to the last gradient, and how much of that was no work on it. */
function lifetime(steps: readonly FragmentStep[]): string {
  const whole = Math.max(...steps.map(({ end }) => end)) - Math.min(...steps.map(({ start }) => start));
  const isTrained = steps.some(({ kind }) => kind === "train");
  return `${duration(whole)}, ${isTrained ? "from noise to the last gradient of its batch" : "and is not trained on yet"}`;
}
