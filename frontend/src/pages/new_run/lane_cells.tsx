/** The lanes of one node in the picker: what each is doing, until when, and what a free one is counted for. */

import type { PoolLane, PoolNode, RunningInPool } from "../../api/schema.ts";
import { seconds } from "../../base/clock.ts";
import { spelt } from "../../base/format.ts";
import { laneShade, shortModel } from "../pool/cells.ts";
import { laneLabel, nodeStateText } from "../pool/pool_words.ts";
import { bandText } from "../queue/queue_words.ts";
import { isFree, type Role } from "./lane_offer.ts";

interface NodeProps {
  readonly node: PoolNode;
  readonly marks: ReadonlyMap<number, Role>;
  readonly running: readonly RunningInPool[];
  readonly isOfUse: (lane: PoolLane) => boolean;
  readonly press: (lane: PoolLane) => void;
}

export function NodeLanes({ node, marks, running, isOfUse, press }: NodeProps) {
  const free = node.lanes.filter(isFree).length;
  const devices = [...new Set(node.lanes.map(({ device }) => shortModel(device) || device))];
  return (
    <div class={`node-box ${node.state}`} role="group" aria-label={`Node ${node.name}`}>
      <div class="node-name">
        <b class="truncate">{node.name}</b>
        <span class="num">{node.state === "available" ? `${free} free` : nodeStateText(node)}</span>
      </div>
      <span class="lane-devices truncate">{devices.join(", ")}</span>
      <div class="cells">
        {node.lanes.map((lane) => (
          <LaneCell
            key={lane.id}
            lane={lane}
            role={marks.get(lane.id)}
            until={untilText(lane, running)}
            canPress={isFree(lane) && isOfUse(lane)}
            press={press}
          />
        ))}
      </div>
    </div>
  );
}

/** Not in the order of Tab: the form's number fields do the same for the keyboard. */
function LaneCell(props: {
  lane: PoolLane;
  role: Role | undefined;
  until: string;
  canPress: boolean;
  press: (lane: PoolLane) => void;
}) {
  const { lane, role, canPress } = props;
  const label = `${laneLabel(lane)}${role ? `, counted as a ${role} lane` : ""}${props.until}`;
  return (
    <button
      type="button"
      tabIndex={-1}
      class={`cell ${lane.kind} ${laneShade(lane, "state")}${role ? ` counted ${role}` : ""}`}
      aria-label={label}
      title={label}
      aria-pressed={role !== undefined}
      disabled={!canPress}
      onClick={() => props.press(lane)}
    >
      {role === undefined ? "" : spelt(role).slice(0, 2)}
    </button>
  );
}

/** Until when a lane is held, as a clause; empty for one that is free. */
function untilText(lane: PoolLane, running: readonly RunningInPool[]): string {
  if (lane.held_since === null) return lane.reason ? `: ${lane.reason}` : "";
  const holder = running.find((row) => row.run_id !== null && row.run_id === lane.run_id);
  if (!holder) return ", until its holder ends";
  const ends = bandText(holder.ends, seconds.value);
  return ` by ${holder.run_name}, ${ends === null ? "until when is not known" : `likely free ${ends.likely}`}`;
}
