/** X axis and smoothing, shared by every page with charts and remembered by the browser. */

import { useState } from "preact/hooks";
import { Segmented } from "../ui/controls.tsx";
import type { XAxis } from "./axis.ts";

export interface ChartChoice {
  readonly axis: XAxis;
  readonly smoothing: number;
}

const KEY = "tandem.charts";

function remembered(): ChartChoice {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? "{}") as Partial<ChartChoice>;
    return { axis: kept.axis ?? "batch", smoothing: kept.smoothing ?? 0 };
  } catch {
    return { axis: "batch", smoothing: 0 };
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

export function ChartTools({ choice, onChange }: { choice: ChartChoice; onChange: (choice: ChartChoice) => void }) {
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
      <label>
        Smoothing
        <input
          type="range"
          min="0"
          max="0.95"
          step="0.05"
          value={choice.smoothing}
          onInput={(event) => onChange({ ...choice, smoothing: Number(event.currentTarget.value) })}
        />
        <span class="num" style={{ width: "2.4em" }}>
          {choice.smoothing.toFixed(2)}
        </span>
      </label>
      <span class="tiny faint">Drag across a chart to zoom, double-click to see all.</span>
    </div>
  );
}
