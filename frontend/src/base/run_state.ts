/** What the state of a run means to pages. */

import { endStateValues, type Run } from "../api/schema.ts";

/** Whether the run has ended: nothing more happens to it by itself. */
export function hasEnded({ state }: Pick<Run, "state">): boolean {
  return endStateValues.some((end) => end === state);
}
