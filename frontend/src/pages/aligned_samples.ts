/** Samples of several runs, laid side by side. Pure. */

import type { Sample } from "../api/schema.ts";

/** Samples by prompt, for each run; prompts that every run has come first. */
export function alignedByPrompt(samples: readonly (readonly Sample[])[]): [string, Sample[][]][] {
  const prompts = [...new Set(samples.flatMap((ofRun) => ofRun.map((sample) => sample.prompt)))];
  const rows = prompts.map((prompt): [string, Sample[][]] => [
    prompt,
    samples.map((ofRun) => ofRun.filter((sample) => sample.prompt === prompt).sort((a, b) => a.member - b.member)),
  ]);
  const lacking = ([, cells]: [string, Sample[][]]) => cells.filter((cell) => cell.length === 0).length;
  return rows.sort((a, b) => lacking(a) - lacking(b));
}
