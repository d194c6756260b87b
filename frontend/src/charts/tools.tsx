/** X and y axis and smoothing, shared by every page with charts and remembered by the browser. */

import { useState } from "preact/hooks";
import { percent } from "../base/format.ts";
import type { Kernel } from "../base/smoothing.ts";
import { Segmented } from "../ui/controls.tsx";
import type { XAxis } from "./axis.ts";

export type YScale = "linear" | "log";

export interface ChartChoice {
  readonly axis: XAxis;
  /** The kernel's width as a share of the x axis; 0 leaves curves as they are. */
  readonly smoothing: number;
  readonly kernel: Kernel;
  readonly scale: YScale;
}

export const DEFAULT_CHOICE: ChartChoice = { axis: "batch", smoothing: 0, kernel: "ema", scale: "linear" };
/** Wider kernels draw a curve's mean. */
export const MAX_SMOOTHING = 0.1;
const KEY = "tandem.charts";

function remembered(): ChartChoice {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? "{}") as Partial<ChartChoice>;
    const smoothing = Math.min(MAX_SMOOTHING, kept.smoothing ?? 0);
    return { ...DEFAULT_CHOICE, ...kept, smoothing };
  } catch {
    return DEFAULT_CHOICE;
  }
}

export function useChartView(): [ChartChoice, (choice: ChartChoice) => void] {
  const [choice, setChoice] = useState(remembered);
  const change = (next: ChartChoice) => {
    localStorage.setItem(KEY, JSON.stringify(next));
    setChoice(next);
  };
  return [choice, change];
}

interface Props {
  readonly choice: ChartChoice;
  readonly onChange: (choice: ChartChoice) => void;
  /** Whether the page's charts can have a logarithmic axis and either kernel. */
  readonly inFull?: boolean;
}

export function ChartTools({ choice, onChange, inFull = false }: Props) {
  return (
    <div class="chart-tools">
      <Segmented
        label="X axis"
        value={choice.axis}
        onChange={(axis) => onChange({ ...choice, axis })}
        choices={[
          { value: "batch", label: "Batch" },
          { value: "step", label: "Step" },
          { value: "wall", label: "Wall time" },
        ]}
      />
      {inFull && (
        <Segmented
          label="Y axis"
          value={choice.scale}
          onChange={(scale) => onChange({ ...choice, scale })}
          choices={[
            { value: "linear", label: "Linear" },
            { value: "log", label: "Log" },
          ]}
        />
      )}
      <label title="Width of the smoothing kernel, as a share of the x axis.">
        Smoothing
        <input
          type="range"
          min="0"
          max={MAX_SMOOTHING}
          step="0.005"
          value={choice.smoothing}
          onInput={(event) => onChange({ ...choice, smoothing: Number(event.currentTarget.value) })}
        />
        <span class="num" style={{ width: "3em" }}>
          {percent(choice.smoothing, 1)}
        </span>
      </label>
      {inFull && choice.smoothing > 0 && (
        <Segmented
          label="Kernel"
          value={choice.kernel}
          onChange={(kernel) => onChange({ ...choice, kernel })}
          choices={[
            { value: "ema", label: "EMA" },
            { value: "gaussian", label: "Gaussian" },
          ]}
        />
      )}
      <span class="tiny faint">Drag across a chart to zoom, double-click to see all.</span>
    </div>
  );
}
