/** What can be done with one panel: pin it to the top, save its points or its picture. */

import type { MetricStore } from "../live/metric_store.ts";
import { attempt } from "../ui/toasts.tsx";
import { csvOf, pictureOf, save } from "./curve_files.ts";
import type { Steps } from "./panel_curves.ts";

/** The server's limit for one answer: a longer curve is thinned to so many points, each with its minimum and maximum. */
const MAX_POINTS = 5000;

interface Props {
  readonly title: string;
  readonly store: MetricStore;
  readonly keys: readonly string[];
  /** The window zoomed to, whose points alone are saved. */
  readonly steps: Steps | null;
  readonly isPinned: boolean;
  readonly onPin: () => void;
  /** The chart as it is drawn; null while there is none. */
  readonly drawn: () => HTMLCanvasElement | null;
}

export function PanelActions({ title, store, keys, steps, isPinned, onPin, drawn }: Props) {
  const name = title.toLowerCase().replaceAll(/[^a-z0-9]+/g, "_");
  const points = async () => (await store.readWindow({ keys, max_points: MAX_POINTS, ...steps })).series;
  const formats = {
    CSV: async () => save(`${name}.csv`, new Blob([csvOf(await points())], { type: "text/csv" })),
    JSON: async () => save(`${name}.json`, new Blob([JSON.stringify(await points())], { type: "application/json" })),
    PNG: async () => {
      const canvas = drawn();
      if (canvas) save(`${name}.png`, await pictureOf(canvas, title));
    },
  };
  return (
    <fieldset class="panel-actions" aria-label={`${title}: pin and save`}>
      <button type="button" class="button quiet small" aria-pressed={isPinned} onClick={onPin}>
        {isPinned ? "Unpin" : "Pin"}
      </button>
      {Object.entries(formats).map(([format, act]) => (
        <button key={format} type="button" class="button quiet small" onClick={() => void attempt(act)}>
          {format}
        </button>
      ))}
    </fieldset>
  );
}
