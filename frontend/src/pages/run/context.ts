/** Properties of every part of the run page. */

import type { Run } from "../../api/schema.ts";
import type { RunStore } from "../../live/run_store.ts";

export interface RunProps {
  readonly store: RunStore;
  readonly run: Run;
}

export function mayEdit(run: Run): boolean {
  return run.project.role === "editor" || run.project.role === "owner";
}
