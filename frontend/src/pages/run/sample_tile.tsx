/** One picture or clip with its reward: a tile in a grid, and enlarged with everything known of it. */

import { useEffect, useState } from "preact/hooks";
import type { GroupOfBatch, Sample } from "../../api/schema.ts";
import { number } from "../../base/format.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { Media, Player, playsWhilePointedAt } from "./media.tsx";
import { factsOf, hoverText } from "./sample_facts.ts";
import { levelOf, neighbour, type Scale, twinOf } from "./sample_rows.ts";
import { Wipe } from "./wipe.tsx";

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
      title={hoverText(sample)}
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
          <b>{number(sample.reward, isTiny(sample.reward) ? 1 : 2)}</b>
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

/** One digit of it tells enough beside others, and has room. */
const isTiny = (reward: number | null) => reward !== null && Math.abs(reward) < 0.1;

function signed(value: number): string {
  return `${value >= 0 ? "+" : "−"}${Math.abs(value).toFixed(1)}`;
}

interface EnlargedProps {
  readonly sample: Sample;
  /** The keys of all rewards of the run. */
  readonly rewards: readonly string[];
  /** The grid that it is of, by prompt and member: arrow keys go through it. */
  readonly rows?: readonly (readonly Sample[])[];
  /** Samples of the base model, among which its twin is found. */
  readonly bases?: readonly Sample[];
  readonly groups?: readonly GroupOfBatch[];
  readonly onClose: () => void;
}

const MOVES: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

export function Enlarged({ rows = [], bases = [], groups = [], rewards, onClose, ...props }: EnlargedProps) {
  const [sample, setSample] = useState(props.sample);
  const group = groups.find((one) => one.prompt_index === sample.prompt_index);
  const base = twinOf(sample, bases);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const move = MOVES[event.key];
      // The line of a comparison is moved by the same keys.
      if (!move || event.target instanceof HTMLInputElement) return;
      event.preventDefault();
      setSample((from) => neighbour(rows, from, ...move) ?? from);
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [rows]);
  return (
    <Dialog title={sample.prompt} wide onClose={onClose}>
      <div class="enlarged">
        {base && base.policy_version !== sample.policy_version ? (
          <Wipe base={base} sample={sample} />
        ) : (
          <Player sample={sample} alt={`Sample for the prompt “${sample.prompt}”`} />
        )}
        <div class="stack">
          <dl class="kv">
            {factsOf(sample, rewards, group).map(([name, value]) => [
              <dt key={name}>{name}</dt>,
              <dd key={`${name}=`} class="num">
                {value}
              </dd>,
            ])}
          </dl>
          <Download sample={sample} />
          {rows.length > 0 && <p class="tiny faint">← → member · ↑ ↓ prompt · Esc closes</p>}
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
