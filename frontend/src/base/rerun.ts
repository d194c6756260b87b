/** Settings that a page proposes for another run like a given one: kept for the form of a new run, in this browser tab. */

import type { RunSpec } from "../api/schema.ts";

const keyOf = (runId: string) => `tandem.rerun.${runId}`;

/** The address of the form, filled with `spec` instead of the run's own. */
export function rerunWith(runId: string, spec: RunSpec): string {
  sessionStorage.setItem(keyOf(runId), JSON.stringify(spec));
  return `/runs/new?from=${runId}&as=proposed`;
}

/** What was proposed for a run like this one, where the address says so; null otherwise. */
export function proposedFor(runId: string, search: string = location.search): RunSpec | null {
  const kept = new URLSearchParams(search).get("as") === "proposed" ? sessionStorage.getItem(keyOf(runId)) : null;
  return kept === null ? null : (JSON.parse(kept) as RunSpec);
}
