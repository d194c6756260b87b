/** Goes through the batches that have samples: a slider, steps, and play, which waits for each batch to be shown. */

import { useEffect, useState } from "preact/hooks";
import { Icon, type IconName } from "../../ui/icon.tsx";

/** How long a batch is seen while the slider plays: long enough to look at a row of pictures. */
const PLAY_MILLISECONDS = 700;

interface Props {
  readonly index: number;
  readonly last: number;
  readonly label: string;
  readonly isNewest: boolean;
  /** Whether the batch at `index` is on screen. */
  readonly isShown: boolean;
  readonly onGo: (index: number) => void;
  readonly onNewest: () => void;
}

export function BatchSlider({ index, last, label, isNewest, isShown, onGo, onNewest }: Props) {
  const [isPlaying, setPlaying] = useState(false);
  useEffect(() => {
    if (!isPlaying || !isShown) return undefined;
    if (index >= last) {
      setPlaying(false);
      return undefined;
    }
    const timer = setTimeout(() => onGo(index + 1), PLAY_MILLISECONDS);
    return () => clearTimeout(timer);
  }, [isPlaying, isShown, index, last]);
  const play = () => {
    // At the end there is nothing left to play.
    if (!isPlaying && index >= last) onGo(0);
    setPlaying(!isPlaying);
  };
  return (
    <div class="row batch-slider">
      <Step label="Earlier batch" icon="left" disabled={index <= 0} onClick={() => onGo(index - 1)} />
      <Step
        label={isPlaying ? "Pause" : "Play"}
        icon={isPlaying ? "pause" : "play"}
        disabled={last <= 0}
        onClick={play}
      />
      <Step label="Later batch" icon="right" disabled={index >= last} onClick={() => onGo(index + 1)} />
      <input
        type="range"
        min={0}
        max={last}
        value={index}
        aria-label="Batch"
        aria-valuetext={label}
        onInput={(event) => onGo(Number(event.currentTarget.value))}
      />
      <span class="small num batch-label">{label}</span>
      <label class="check">
        <input type="checkbox" checked={isNewest} onChange={onNewest} />
        Newest
      </label>
    </div>
  );
}

function Step(props: { label: string; icon: IconName; disabled: boolean; onClick: () => void }) {
  return (
    <button
      type="button"
      class="button small quiet"
      aria-label={props.label}
      title={props.label}
      disabled={props.disabled}
      onClick={props.onClick}
    >
      <Icon name={props.icon} />
    </button>
  );
}
