/** The rows of a timeline: every lane, or of a run of many lanes a row for each role, which opens to its lanes. Pure. */

import { type LaneTrack, roleOf } from "./lane_tracks.ts";

/** Up to so many lanes are all seen at once: two nodes of eight GPUs. */
export const MAX_SINGLE_LANES = 16;

/** All lanes of one role as one row. */
export interface FleetRow {
  readonly role: string;
  readonly numLanes: number;
  readonly isOpen: boolean;
}

export interface Rows {
  readonly fleet: readonly FleetRow[];
  /** For each fleet row the number of lanes above it. */
  readonly fleetAfter: readonly number[];
  /** The lanes that have a row of their own. */
  readonly tracks: readonly LaneTrack[];
}

/** `tracks` stand by role, as `LaneTracks` orders them. A role of one lane is that lane. */
export function rowsOf(tracks: readonly LaneTrack[], openRoles: ReadonlySet<string>): Rows {
  if (tracks.length <= MAX_SINGLE_LANES) return { fleet: [], fleetAfter: [], tracks };
  const fleet: FleetRow[] = [];
  const fleetAfter: number[] = [];
  const shown: LaneTrack[] = [];
  for (const role of new Set(tracks.map(roleOf))) {
    const lanes = tracks.filter((track) => roleOf(track) === role);
    const isOpen = lanes.length === 1 || openRoles.has(role);
    if (lanes.length > 1) {
      fleetAfter.push(shown.length);
      fleet.push({ role, numLanes: lanes.length, isOpen });
    }
    if (isOpen) shown.push(...lanes);
  }
  return { fleet, fleetAfter, tracks: shown };
}

/** Lanes whose name, role, node or device holds every word of the filter. */
export function matching(tracks: readonly LaneTrack[], filter: string): readonly LaneTrack[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  return tracks.filter((track) => {
    const text = `${track.lane} ${roleOf(track)} ${track.info?.node ?? ""} ${track.info?.device ?? ""}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}
