/** The samples of a batch by prompt and member, with the mean and spread of each prompt's group. */

import type { Sample } from "../../api/schema.ts";
import { number } from "../../base/format.ts";
import { Terms } from "../../ui/term.tsx";
import { rewardScale, type SampleRow } from "./sample_rows.ts";
import { Tile } from "./sample_tile.tsx";

/** Members of a group up to which tiles are large: as many as stand in a line of a laptop's window. */
const SPACIOUS_MEMBERS = 8;

export function SampleGrid(props: {
  rows: readonly SampleRow[];
  verdict: string | undefined;
  onOpen: (sample: Sample) => void;
}) {
  const scale = rewardScale(props.rows.flatMap(({ samples }) => samples));
  const numMembers = Math.max(1, ...props.rows.map(({ samples }) => samples.length));
  return (
    <div class={`sample-rows ${numMembers > SPACIOUS_MEMBERS ? "dense" : ""}`} style={{ "--members": numMembers }}>
      {props.rows.map((row) => (
        <div key={row.promptIndex} class="sample-row">
          <div class="sample-prompt">
            <span>{row.prompt}</span>
            <span class="tiny muted num">
              mean {number(row.meanReward)}
              {row.group && ` ± ${number(row.group.reward_std)}`}
            </span>
            {row.group?.has_spread === false && (
              <span class="tiny no-spread">
                <Terms>zero spread: teaches nothing</Terms>
              </span>
            )}
          </div>
          <div class="tiles large">
            {row.samples.map((sample) => (
              <Tile
                key={`${sample.member}-${sample.seed}`}
                sample={sample}
                scale={scale}
                verdict={props.verdict}
                detailed
                onOpen={props.onOpen}
              />
            ))}
          </div>
        </div>
      ))}
    </div>
  );
}
