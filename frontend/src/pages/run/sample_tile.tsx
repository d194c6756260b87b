/** One picture or clip with its reward: a tile in a grid, and enlarged with everything known of it. */

import type { Sample } from "../../api/schema.ts";
import { number, words } from "../../base/format.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { Media, Player, playsWhilePointedAt } from "./media.tsx";
import { levelOf, type Scale, scoreText } from "./sample_rows.ts";

export function Tile(props: {
  sample: Sample;
  scale: Scale;
  /** Key of the reward whose verdict is shown, where there is one. */
  verdict?: string | undefined;
  detailed?: boolean;
  onOpen: (sample: Sample) => void;
}) {
  const { sample, scale } = props;
  const level = levelOf(sample.reward, scale);
  const verdict = props.verdict === undefined ? undefined : sample.rewards[props.verdict];
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
    ...names.map((name): [string, string] => [words(name), scoreText(sample, name)]),
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
