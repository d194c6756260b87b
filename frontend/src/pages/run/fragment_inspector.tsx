/** The story of the fragment that a span of the timeline worked on: its prompt and members, what became of its group, and
 * where and when each part of its work ran. */

import { useState } from "preact/hooks";
import { api } from "../../api/endpoints.ts";
import type { Fragment, FragmentStep, Run, Sample, TimelineSpan } from "../../api/schema.ts";
import { duration } from "../../base/format.ts";
import { rewardsOf, watchedVerdicts } from "../../base/rewards.ts";
import { classOf } from "../../timeline/classes.ts";
import { Inspector } from "../../ui/drawer.tsx";
import { useResource } from "../../ui/resource.ts";
import { Failed, Loading } from "../../ui/states.tsx";
import { Terms } from "../../ui/term.tsx";
import { type FragmentAddress, isHeldOut, stepBars, storyFacts } from "./fragment_steps.ts";
import { rewardScale } from "./sample_rows.ts";
import { Enlarged, Tile } from "./sample_tile.tsx";

interface Props {
  readonly run: Run;
  readonly address: FragmentAddress;
  /** The span that was chosen. */
  readonly span: TimelineSpan;
  readonly onClose: () => void;
}

export function FragmentInspector({ run, address, span, onClose }: Props) {
  const { batch, group, fragment } = address;
  const answer = useResource(() => api.fragment(run.id, address), [run.id, batch, group, fragment]);
  const told = answer.value;
  return (
    <Inspector title={`Batch ${batch}, group ${group}, fragment ${fragment}`} onClose={onClose}>
      {answer.error !== null && <Failed message={answer.error} onRetry={answer.reload} />}
      {told === undefined && answer.error === null && <Loading />}
      {told &&
        (isHeldOut(span, told.story) ? (
          <p class="small muted">This lane scored a held-out fragment, which is not trained on.</p>
        ) : (
          <FragmentDetails run={run} fragment={told} />
        ))}
    </Inspector>
  );
}

export function FragmentDetails({ run, fragment: { story, samples } }: { run: Run; fragment: Fragment }) {
  return (
    <>
      <p class="fragment-prompt">{story.prompt || "The prompt is known once all groups of the batch are complete."}</p>
      <Steps steps={story.steps} />
      <dl class="kv">
        {storyFacts(story).map(([name, value]) => [
          <dt key={name}>
            <Terms>{name}</Terms>
          </dt>,
          <dd key={`${name}=`} class="num">
            {value}
          </dd>,
        ])}
      </dl>
      {samples.length > 0 && <Members run={run} samples={samples} numMembers={story.members.length} />}
    </>
  );
}

/** A bar each on one axis, from the first second of the work to the last. */
function Steps({ steps }: { steps: readonly FragmentStep[] }) {
  return (
    <table class="fragment-steps small" aria-label="Where and when each part ran">
      <tbody>
        {stepBars(steps).map(({ step, left, width, after }) => {
          const { label, colour } = classOf(step.kind);
          return (
            <tr key={`${step.kind} ${step.lane}`}>
              <th scope="row">
                {label}
                <span class="tiny muted">{step.lane}</span>
              </th>
              <td class="fragment-axis">
                <i style={{ "--swatch": `var(${colour})`, left: `${left}%`, width: `${width}%` }} />
              </td>
              <td class="right num">
                {duration(step.busy_seconds)}
                <span class="tiny muted" title="After the fragment's work began">
                  +{after > 0 ? duration(after) : "0 s"}
                </span>
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

function Members({ run, samples, numMembers }: { run: Run; samples: readonly Sample[]; numMembers: number }) {
  const [enlarged, setEnlarged] = useState<Sample | null>(null);
  return (
    <>
      <p class="small muted num">
        {samples.length} of its {numMembers} members stored
      </p>
      <div class="tiles fragment-members">
        {samples.map((sample) => (
          <Tile
            key={sample.member}
            sample={sample}
            scale={rewardScale(samples)}
            verdict={watchedVerdicts(run.spec)[0]}
            detailed
            onOpen={setEnlarged}
          />
        ))}
      </div>
      {enlarged && (
        <Enlarged sample={enlarged} rewards={rewardsOf(run.spec)} rows={[samples]} onClose={() => setEnlarged(null)} />
      )}
    </>
  );
}
