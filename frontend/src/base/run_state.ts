/** What the state of a run means to pages. */

import { type Run, terminalStateValues } from "../api/schema.ts";

/** Whether the run has ended for good. */
export function isTerminal({ state }: Pick<Run, "state">): boolean {
  return terminalStateValues.some((terminal) => terminal === state);
}
