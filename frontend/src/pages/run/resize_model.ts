/** What is chosen in the resize dialog, and the request that it makes. */

import type { FreeLanes, LaneRole, ResizeRequest, RunLane, RunSize } from "../../api/schema.ts";

/** What a lane of the run is to do: a role, its own where it stays, or leave. */
export type LaneChoice = LaneRole | "release";

export interface ResizeChoices {
  /** By lane; lanes that are not named stay as they are. */
  readonly lanes: ReadonlyMap<string, LaneChoice>;
  /** Number of lanes to add by `freeKey`. */
  readonly added: ReadonlyMap<string, number>;
}

export const NO_CHOICES: ResizeChoices = { lanes: new Map(), added: new Map() };

export function freeKey({ role, device }: Pick<FreeLanes, "role" | "device">): string {
  return `${role} ${device}`;
}

/** The choice for a lane: what was chosen, else its own role. */
export function choiceOf(choices: ResizeChoices, { lane, role }: RunLane): LaneChoice {
  return choices.lanes.get(lane) ?? role;
}

export function requestOf(size: RunSize, choices: ResizeChoices): ResizeRequest {
  const chosen = size.lanes.map((lane) => ({ lane, choice: choiceOf(choices, lane) }));
  const add = size.free.flatMap((free) => {
    const number = choices.added.get(freeKey(free)) ?? 0;
    return number > 0 ? [{ role: free.role, device: free.device, number }] : [];
  });
  const release = chosen.flatMap(({ lane, choice }) => (choice === "release" ? [lane.lane] : []));
  const change = chosen.flatMap(({ lane, choice }) =>
    choice !== "release" && choice !== lane.role ? [{ lane: lane.lane, role: choice }] : [],
  );
  return { add, release, change };
}

export function isEmpty({ add, release, change }: ResizeRequest): boolean {
  return !add?.length && !release?.length && !change?.length;
}

/** Whether other lanes train afterwards, so that the trainer gang is replaced. */
export function changesGang(size: RunSize, { add, release, change }: ResizeRequest): boolean {
  const trainers = new Set(size.lanes.flatMap(({ lane, role }) => (role === "trainer" ? [lane] : [])));
  const leaves = (release ?? []).some((lane) => trainers.has(lane));
  const changes = (change ?? []).some(({ lane, role }) => role === "trainer" || trainers.has(lane));
  return leaves || changes || (add ?? []).some(({ role }) => role === "trainer");
}

/** Number of lanes by role afterwards. */
export function rolesAfter(size: RunSize, choices: ResizeChoices): ReadonlyMap<LaneRole, number> {
  const after = new Map<LaneRole, number>();
  const count = (role: LaneRole, number: number) => after.set(role, (after.get(role) ?? 0) + number);
  for (const lane of size.lanes) {
    const choice = choiceOf(choices, lane);
    if (choice !== "release") count(choice, 1);
  }
  for (const free of size.free) count(free.role, choices.added.get(freeKey(free)) ?? 0);
  return after;
}
