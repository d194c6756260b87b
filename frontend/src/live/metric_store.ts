/** The curves of one run, columnar: loaded over REST, then extended by `metrics` items. */

import { signal } from "@preact/signals";
import type { MetricKey } from "../api/metric_key.ts";
import type { Curves, Series, StreamItem } from "../api/schema.ts";
import { SequenceGate } from "./sequence_gate.ts";

/** One curve that grows: columns of one length. */
export type Curve = { readonly [Column in keyof Series]: number[] };

export class MetricStore {
  readonly gate = new SequenceGate();
  /** By the metric's name. Runs may report metrics that this page does not know. */
  readonly curves = new Map<string, Curve>();
  /** Rises when any curve changed. */
  readonly version = signal(0);

  load(answer: Curves): void {
    this.curves.clear();
    for (const [key, series] of Object.entries(answer.series)) this.curves.set(key, curveOf(series));
    this.gate.cover(answer.stream_seq);
    this.version.value += 1;
  }

  /** Returns whether the item changed a curve. */
  apply(item: StreamItem): boolean {
    if (item.type === "metrics") {
      const { batch, optimizer_step, values } = item.body;
      for (const [key, value] of Object.entries(values)) this.put(key, { batch, optimizer_step, at: item.at, value });
      return true;
    }
    if (item.type === "resumed") {
      this.dropAfter(item.body.batch);
      return true;
    }
    return false;
  }

  curve(key: MetricKey): Curve | undefined {
    return this.curves.get(key);
  }

  last(key: MetricKey): number | undefined {
    return this.curve(key)?.value.at(-1);
  }

  first(key: MetricKey): number | undefined {
    return this.curve(key)?.value[0];
  }

  /** A value reported again for the same batch and step replaces the first. */
  private put(key: string, point: { batch: number; optimizer_step: number; at: number; value: number }): void {
    let curve = this.curves.get(key);
    if (!curve) {
      curve = { batch: [], optimizer_step: [], at: [], value: [], min: [], max: [] };
      this.curves.set(key, curve);
    }
    const last = curve.batch.length - 1;
    const isRepeat = curve.batch[last] === point.batch && curve.optimizer_step[last] === point.optimizer_step;
    const index = isRepeat ? last : last + 1;
    curve.batch[index] = point.batch;
    curve.optimizer_step[index] = point.optimizer_step;
    curve.at[index] = point.at;
    curve.value[index] = curve.min[index] = curve.max[index] = point.value;
  }

  /** A resumed attempt goes on after `batch`: later points of the attempt before are superseded. */
  private dropAfter(batch: number): void {
    for (const curve of this.curves.values()) {
      const keep = curve.batch.findIndex((candidate) => candidate > batch);
      if (keep < 0) continue;
      for (const column of Object.values(curve)) column.length = keep;
    }
  }
}

/** A copy of a curve that may grow. */
export function curveOf(series: Series): Curve {
  const { batch, optimizer_step, at, value, min, max } = series;
  return {
    batch: [...batch],
    optimizer_step: [...optimizer_step],
    at: [...at],
    value: [...value],
    min: [...min],
    max: [...max],
  };
}
