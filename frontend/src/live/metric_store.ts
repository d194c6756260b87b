/** The curves of one run, columnar: filled from REST, then grown by `metrics` items. */

import { signal } from "@preact/signals";
import type { MetricsAnswer, StreamItem } from "../api/types.ts";
import { SequenceGate } from "./sequence_gate.ts";

export interface Curve {
  readonly batch: number[];
  readonly step: number[];
  readonly at: number[];
  readonly value: number[];
  readonly min: number[];
  readonly max: number[];
}

export class MetricStore {
  readonly gate = new SequenceGate();
  readonly curves = new Map<string, Curve>();
  /** Rises when any curve changed. */
  readonly version = signal(0);

  load(answer: MetricsAnswer): void {
    this.curves.clear();
    for (const [key, series] of Object.entries(answer.series)) {
      this.curves.set(key, {
        batch: [...series.batch],
        step: [...series.step],
        at: [...series.at],
        value: [...series.value],
        min: [...(series.min ?? series.value)],
        max: [...(series.max ?? series.value)],
      });
    }
    this.gate.cover(answer.stream_seq);
    this.version.value += 1;
  }

  /** Returns whether the item changed a curve. */
  apply(item: StreamItem): boolean {
    if (item.type === "metrics") {
      const body = item.body as { batch: number; optimizer_step: number; values: Record<string, number> };
      for (const [key, value] of Object.entries(body.values)) {
        this.put(key, body.batch, body.optimizer_step, item.at, value);
      }
      return true;
    }
    if (item.type === "resumed") {
      this.dropAfter((item.body as { batch: number }).batch);
      return true;
    }
    return false;
  }

  last(key: string): number | undefined {
    return this.curves.get(key)?.value.at(-1);
  }

  first(key: string): number | undefined {
    return this.curves.get(key)?.value[0];
  }

  /** A value reported again for the same batch and step replaces the first. */
  private put(key: string, batch: number, step: number, at: number, value: number): void {
    let curve = this.curves.get(key);
    if (!curve) {
      curve = { batch: [], step: [], at: [], value: [], min: [], max: [] };
      this.curves.set(key, curve);
    }
    const lastIndex = curve.batch.length - 1;
    const isRepeat = curve.batch[lastIndex] === batch && curve.step[lastIndex] === step;
    const index = isRepeat ? lastIndex : lastIndex + 1;
    curve.batch[index] = batch;
    curve.step[index] = step;
    curve.at[index] = at;
    curve.value[index] = value;
    curve.min[index] = value;
    curve.max[index] = value;
  }

  /** A resumed attempt goes on after `batch`: later points of the attempt before are superseded. */
  private dropAfter(batch: number): void {
    for (const curve of this.curves.values()) {
      const keep = curve.batch.findIndex((candidate) => candidate > batch);
      if (keep < 0) continue;
      for (const column of Object.values(curve) as number[][]) column.length = keep;
    }
  }
}
