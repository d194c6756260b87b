/** The curves of one run: each is read over REST when something shows it, then extended by `metrics` items.
 *
 *     panels ── ask(keys, points) ──► REST, together ──► curves ◄── items of the socket
 *
 * Invariants: every point is there once, since a curve knows up to which item it was read; none is longer than a few
 * times what was asked, since one that has grown is read anew and so thinned by the server, which keeps its envelope.
 */

import { signal } from "@preact/signals";
import { messageOf } from "../api/client.ts";
import type { CurvesAsked } from "../api/endpoints.ts";
import type { MetricKey } from "../api/metric_key.ts";
import type { Curves, StreamItem } from "../api/schema.ts";
import { type Curve, GrowingCurve, OVERVIEW_POINTS } from "./growing_curve.ts";
import { HeldItems } from "./held_items.ts";
import { SequenceGate } from "./sequence_gate.ts";

export class MetricStore {
  readonly gate = new SequenceGate();
  /** Rises when any curve changed, or the metrics known. */
  readonly version = signal(0);
  /** Why curves that were asked for could not be read; null when all went well. */
  readonly problem = signal<string | null>(null);
  private known = new Set<string>();
  private readonly curves = new Map<string, GrowingCurve>();
  /** Points wanted by key, of those to be read next and of those being read. */
  private readonly wanted = new Map<string, number>();
  private readonly reading = new Map<string, number>();
  private readonly held = new HeldItems();

  constructor(private readonly read: (asked: CurvesAsked) => Promise<Curves>) {}

  /** Begin with an answer of some curves: those that are not in it will be read again when they are shown. */
  load(answer: Curves, numAsked = OVERVIEW_POINTS): void {
    this.curves.clear();
    this.problem.value = null;
    this.known = new Set(answer.keys);
    this.keep(answer, numAsked, []);
    this.gate.cover(answer.stream_seq);
  }

  /** Returns whether the item changed a curve. */
  apply(item: StreamItem): boolean {
    if (item.type !== "metrics" && item.type !== "resumed") return false;
    this.held.hold(item);
    if (item.type === "metrics") this.admitNew(item.stream_seq, Object.keys(item.body.values));
    for (const [key, growing] of this.curves) {
      growing.apply(item, valueIn(item, key));
      if (growing.isOverlong) this.curves.delete(key);
      if (growing.isLong) this.want(key, growing.numAsked);
    }
    return true;
  }

  /** Names of all metrics that the run has reported. Runs may report metrics that this page does not know. */
  get keys(): ReadonlySet<string> {
    return this.known;
  }

  /** The curve as it was read; one that nothing has shown yet is asked for, and comes with a later `version`. */
  curve(key: MetricKey): Curve | undefined;
  curve(key: string): Curve | undefined;
  curve(key: string): Curve | undefined {
    const growing = this.curves.get(key);
    if (!growing) this.ask([key], OVERVIEW_POINTS);
    return growing?.curve;
  }

  /** The curve if it was read, without asking for it. */
  stored(key: string): Curve | undefined {
    return this.curves.get(key)?.curve;
  }

  last(key: MetricKey): number | undefined {
    return this.curve(key)?.value.at(-1);
  }

  first(key: MetricKey): number | undefined {
    return this.curve(key)?.value[0];
  }

  /** Have these curves with at least so many points, as far as the run has reported them. */
  ask(keys: readonly string[], numPoints: number): void {
    for (const key of keys) {
      const growing = this.curves.get(key);
      const isFine = growing && (!growing.isThinned || growing.numAsked >= numPoints);
      if (this.known.has(key) && !isFine) this.want(key, numPoints);
    }
  }

  /** Whether the server has finer points of one of these curves than the page. */
  isThinned(keys: readonly string[]): boolean {
    return keys.some((key) => this.curves.get(key)?.isThinned);
  }

  /** A window of curves, as fine as `asked`; it is the asker's to keep. */
  readWindow(asked: CurvesAsked): Promise<Curves> {
    return this.read(asked);
  }

  /** Ask again for what failed. */
  retry(): void {
    this.problem.value = null;
    this.version.value += 1;
  }

  private want(key: string, numPoints: number): void {
    if (this.problem.peek() !== null || (this.reading.get(key) ?? 0) >= numPoints) return;
    if (this.wanted.size === 0) queueMicrotask(() => void this.readWanted());
    this.wanted.set(key, Math.max(numPoints, this.wanted.get(key) ?? 0));
  }

  /** One request for all that panels have asked for since the last. */
  private async readWanted(): Promise<void> {
    const keys = [...this.wanted.keys()];
    const max_points = Math.max(...this.wanted.values());
    this.wanted.clear();
    for (const key of keys) this.reading.set(key, max_points);
    try {
      await this.held.during(
        () => this.read({ keys, max_points }),
        (answer, arrived) => this.keep(answer, max_points, arrived),
      );
    } catch (error) {
      this.problem.value = messageOf(error);
    } finally {
      for (const key of keys) if (this.reading.get(key) === max_points) this.reading.delete(key);
    }
  }

  private keep(answer: Curves, numAsked: number, arrived: readonly StreamItem[]): void {
    for (const [key, series] of Object.entries(answer.series)) {
      const growing = new GrowingCurve(series, numAsked, answer.stream_seq);
      for (const item of arrived) growing.apply(item, valueIn(item, key));
      this.curves.set(key, growing);
    }
    this.version.value += 1;
  }

  /** A metric reported for the first time has no past to be read: its curve begins with this item. */
  private admitNew(stream_seq: number, keys: readonly string[]): void {
    for (const key of keys) {
      if (this.known.has(key)) continue;
      this.known.add(key);
      const none = { batch: [], optimizer_step: [], at: [], value: [], min: [], max: [] };
      this.curves.set(key, new GrowingCurve(none, OVERVIEW_POINTS, stream_seq - 1));
    }
  }
}

function valueIn(item: StreamItem, key: string): number | undefined {
  if (item.type !== "metrics") return undefined;
  const values: Readonly<Record<string, number>> = item.body.values;
  return values[key];
}
