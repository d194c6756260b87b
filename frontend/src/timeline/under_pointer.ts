/** What lies under the pointer on a timeline: a span of a lane, or an instant of the row of a role. */

import type { LendDecision, TimelineSpan } from "../api/schema.ts";
import type { FleetRow } from "./fleet_rows.ts";
import type { LaneTrack } from "./lane_tracks.ts";
import type { PlannedAgainstMeasured } from "./planned_batches.ts";

/** The span under the pointer. */
export interface Selection {
  readonly track: LaneTrack;
  readonly span: TimelineSpan;
  /** The decision that lent the lane, for a lent span. */
  readonly lend: LendDecision | undefined;
  /** What the plan promised of its batch, where the plan is drawn. */
  readonly plan: PlannedAgainstMeasured | null;
  /** The pointer, in CSS pixels of the canvas. */
  readonly x: number;
  readonly y: number;
}

/** The instant of a fleet row under the pointer. */
export interface FleetPoint {
  readonly row: FleetRow;
  readonly at: number;
  /** Mean number of lanes by kind of span about that instant, the most first. */
  readonly lanes: readonly (readonly [kind: string, lanes: number])[];
  readonly x: number;
  readonly y: number;
}
