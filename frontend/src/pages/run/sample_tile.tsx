/** One picture or clip with its reward: a tile in a grid, and enlarged with everything known of it. */

import type { Sample } from "../../api/types.ts";
import { number, words } from "../../base/format.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { Media, Player, playsWhilePointedAt } from "./media.tsx";

export interface Scale {
  readonly low: number;
  readonly high: number;
}

/** Rewards between 0 and 1 are coloured on that scale; others on the range of what is shown. */
export function rewardScale(samples: readonly Sample[]): Scale {
  const rewards = samples.flatMap((sample) => sample.reward ?? []);
  const low = Math.min(...rewards);
  const high = Math.max(...rewards);
  return low >= 0 && high <= 1 ? { low: 0, high: 1 } : { low, high };
}

/** Samples by prompt index, members in order. */
export function byPrompt(samples: readonly Sample[]): Map<number, Sample[]> {
  const rows = new Map<number, Sample[]>();
  for (const sample of [...samples].sort((a, b) => a.prompt_index - b.prompt_index || a.member - b.member)) {
    const row = rows.get(sample.prompt_index);
    if (row) row.push(sample);
    else rows.set(sample.prompt_index, [sample]);
  }
  return rows;
}

function share(value: number, { low, high }: Scale): number {
  return high > low ? Math.min(1, Math.max(0, (value - low) / (high - low))) : 0.5;
}

export function Tile(props: {
  sample: Sample;
  scale: Scale;
  judge?: string | undefined;
  detailed?: boolean;
  onOpen: (sample: Sample) => void;
}) {
  const { sample, scale } = props;
  const level = sample.reward === null ? 0 : share(sample.reward, scale);
  const verdict = props.judge === undefined ? undefined : sample.rewards[props.judge];
  return (
    <button
      type="button"
      class="tile"
      style={{ "--level": `${Math.round(level * 100)}%` }}
      title={`reward ${number(sample.reward)}`}
      onClick={() => props.onOpen(sample)}
      {...playsWhilePointedAt}
      aria-label={`${sample.prompt}, member ${sample.member}, reward ${number(sample.reward)}. Enlarge`}
    >
      <Media sample={sample} alt="" />
      {verdict !== undefined && (
        <span class={`verdict ${verdict >= 0.5 ? "right" : "wrong"}`}>{verdict >= 0.5 ? "✓" : "✗"}</span>
      )}
      <i class="level" />
      {props.detailed && (
        <span class="tile-facts num">
          <b>{number(sample.reward, 2)}</b>
          {sample.advantage !== null && (
            <span class={sample.advantage >= 0 ? "up" : "down"}>{signed(sample.advantage)}</span>
          )}
          {sample.staleness > 0 && (
            <span class="stale" title="Policy versions old">
              −{sample.staleness}v
            </span>
          )}
        </span>
      )}
    </button>
  );
}

function signed(value: number): string {
  return `${value >= 0 ? "+" : "−"}${Math.abs(value).toFixed(1)}`;
}

/** A reward that a scorer could not give is said to be missing: 0 would be a score. */
function scoreOf(sample: Sample, name: string): string {
  const score = sample.rewards[name];
  return score === undefined ? `no score: ${sample.missing[name] ?? "see the reward lanes' log"}` : number(score, 4);
}

/** `rewards`: the keys of all rewards of the run. */
export function Enlarged({
  sample,
  rewards,
  onClose,
}: {
  sample: Sample;
  rewards: readonly string[];
  onClose: () => void;
}) {
  const names = [...new Set([...rewards, ...Object.keys(sample.rewards)])];
  const facts: [string, string][] = [
    ["Reward", number(sample.reward, 4)],
    ...names.map((name): [string, string] => [words(name), scoreOf(sample, name)]),
    ["Advantage", sample.advantage === null ? "none: not trained on" : number(sample.advantage, 3)],
    ["Batch", String(sample.batch)],
    ["Policy version", `v${sample.policy_version}`],
    ["Staleness", String(sample.staleness)],
    ["Member", String(sample.member)],
    ["Seed", String(sample.seed)],
    ["Lane", sample.lane || "–"],
  ];
  return (
    <Dialog title={sample.prompt} wide onClose={onClose}>
      <div class="enlarged">
        <Player sample={sample} alt={`Sample for the prompt “${sample.prompt}”`} />
        <div class="stack">
          <dl class="kv">
            {facts.map(([name, value]) => [
              <dt key={name}>{name}</dt>,
              <dd key={`${name}=`} class="num">
                {value}
              </dd>,
            ])}
          </dl>
          <Download sample={sample} />
        </div>
      </div>
    </Dialog>
  );
}

function Download({ sample }: { sample: Sample }) {
  const name = `${sample.prompt}, seed ${sample.seed}`;
  if (sample.clip_url !== null)
    return (
      <a class="button" href={sample.clip_url} download={`${name}.webm`}>
        Download the clip
      </a>
    );
  return (
    <a class="button" href={sample.image_url} download={`${name}.png`}>
      Download the picture
    </a>
  );
}
