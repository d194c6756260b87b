/** Everything the run page knows of one run: REST snapshots first, then the socket's items, applied once per frame.
 *
 * Invariant: each part knows the stream number it covers and drops items at or below it, so a reload, a reconnect or a
 * repeated frame can neither lose nor double anything. The socket is opened with the smallest of those numbers.
 */

import { batch, computed, type Signal, signal } from "@preact/signals";
import { messageOf } from "../api/client.ts";
import { api } from "../api/endpoints.ts";
import type { Run, SamplePurpose, StreamItem, Transition } from "../api/schema.ts";
import { serverNow, setServerTime } from "../base/clock.ts";
import { oncePerFrame } from "../base/frames.ts";
import { hasEnded } from "../base/run_state.ts";
import { NUM_SPANS } from "../timeline/levels_of_detail.ts";
import { TimelineState } from "../timeline/timeline_state.ts";
import { type FirstRead, readFirst } from "./first_read.ts";
import { ItemList, isForPanels, isLogged, PANEL_TYPES } from "./item_list.ts";
import type { Connection } from "./live_socket.ts";
import { MetricStore } from "./metric_store.ts";
import { followRun } from "./run_socket.ts";

/** Item types after which the run's row itself (state, progress, failure, headline) may have changed. */
const CHANGES_RUN: ReadonlySet<StreamItem["type"]> = new Set([
  "transition",
  "state",
  "phase",
  "lanes",
  "resumed",
  "evaluation",
  "publish",
  "command_done",
]);
/** Several such items come together; the row is read once after them. */
const RUN_REFETCH_MILLISECONDS = 400;
/** A heartbeat changes the run's row but sends no item: while nothing else arrives the row is read this often. */
const QUIET_REFETCH_MILLISECONDS = 5000;

export class RunStore {
  readonly run = signal<Run | null>(null);
  readonly transitions = signal<readonly Transition[]>([]);
  readonly metrics = new MetricStore((asked) => api.metrics(this.id, asked));
  readonly timeline = new TimelineState(serverNow, {
    timeline: (asked) => api.timeline(this.id, asked),
    states: (asked) => api.laneStates(this.id, asked),
    plans: () => api.plannedTime(this.id),
  });
  readonly events = new ItemList(isForPanels);
  /** The number of the newest item that the run's log tells of: panels that read the log watch it. */
  readonly logSeq = signal(0);
  /** Rises with each item of these types: panels that read lists over REST watch it. */
  readonly samplesVersions: Record<SamplePurpose, Signal<number>> = {
    train: signal(0),
    evaluate: signal(0),
    request: signal(0),
  };
  readonly filesVersion = signal(0);
  /** Rises with each report on a resize. */
  readonly sizeVersion = signal(0);
  /** Rises with each plan that the run adopts. */
  readonly planVersion = signal(0);
  readonly connection = signal<Connection>("connecting");
  /** Server time when the connection was last known to hold. */
  readonly heardAt = signal(serverNow());
  /** Server time of the newest item applied: the run itself reported then. */
  readonly lastReport = signal(0);
  readonly problem = signal<string | null>(null);
  readonly loaded = signal(false);
  readonly hasEnded = computed(() => this.run.value !== null && hasEnded(this.run.value));

  private unfollow: (() => void) | undefined;
  private queue: StreamItem[] = [];
  /** While REST is read, items wait: applied early, they would be overwritten by an older snapshot and lost. */
  private isReading = false;
  private readonly askFrame = oncePerFrame(() => this.applyQueue());
  private refetchTimer: ReturnType<typeof setTimeout> | undefined;
  private quietTimer: ReturnType<typeof setInterval> | undefined;

  constructor(readonly id: string) {}

  /** Read everything over REST, what comes first perhaps asked for already; then follow the socket from the smallest
   * number covered. */
  async start(first?: Promise<FirstRead>): Promise<void> {
    this.stop();
    await this.readAll(first);
    if (this.problem.value !== null) return;
    this.unfollow = followRun(this.id, this.smallestSeq(), {
      onItems: (items) => this.receive(items),
      onSnapshot: () => void this.readAll(),
      onConnection: (connection) => {
        this.connection.value = connection;
      },
      onRefused: () => {
        this.problem.value = "This run was deleted, or you may no longer see it.";
      },
      onReceived: () => {
        this.heardAt.value = serverNow();
      },
    });
    this.quietTimer = setInterval(() => {
      const isQuiet = serverNow() - this.lastReport.peek() > QUIET_REFETCH_MILLISECONDS / 1000;
      if (isQuiet && !document.hidden && !this.hasEnded.peek()) void this.refreshRun();
    }, QUIET_REFETCH_MILLISECONDS);
  }

  stop(): void {
    this.unfollow?.();
    this.timeline.stop();
    clearTimeout(this.refetchTimer);
    clearInterval(this.quietTimer);
  }

  async refreshRun(): Promise<void> {
    try {
      const [run, transitions] = await Promise.all([api.getRun(this.id), api.transitions(this.id)]);
      batch(() => {
        this.setRun(run);
        this.transitions.value = transitions;
      });
    } catch (error) {
      // The socket's next item or the user's next action asks again; what is shown stays what was last known.
      console.warn(`run ${this.id} could not be read again: ${messageOf(error)}`);
    }
  }

  private setRun(run: Run): void {
    this.run.value = run;
    this.timeline.isLive.value = !hasEnded(run);
  }

  private async readAll(first = readFirst(this.id)): Promise<void> {
    this.isReading = true;
    try {
      const [run, transitions, metrics] = await first;
      batch(() => {
        this.setRun(run);
        this.transitions.value = transitions;
        this.metrics.load(metrics);
        this.problem.value = null;
        this.loaded.value = true;
      });
      await this.readRest(metrics.stream_seq);
    } catch (error) {
      this.problem.value = messageOf(error);
    } finally {
      this.isReading = false;
      this.askFrame();
    }
  }

  /** What the page shows after its first figures and curves: none of it holds these up. */
  private async readRest(curvesSeq: number): Promise<void> {
    const timeline = await api.timeline(this.id, { limit: NUM_SPANS });
    setServerTime(timeline.now);
    this.timeline.load(timeline);
    const events = await api.events(this.id, PANEL_TYPES);
    const covered = Math.min(curvesSeq, timeline.stream_seq);
    batch(() => {
      this.events.load(events, covered);
      this.logSeq.value = Math.max(this.logSeq.peek(), curvesSeq, timeline.stream_seq);
      for (const version of Object.values(this.samplesVersions)) version.value += 1;
      this.filesVersion.value += 1;
      this.sizeVersion.value += 1;
      this.planVersion.value += 1;
    });
  }

  private smallestSeq(): number {
    return Math.min(this.metrics.gate.last, this.timeline.lastSeq);
  }

  private receive(items: readonly StreamItem[]): void {
    this.queue.push(...items);
    this.askFrame();
  }

  private applyQueue(): void {
    if (this.isReading || this.queue.length === 0) return;
    const items = this.queue;
    this.queue = [];
    const changed = {
      metrics: false,
      timeline: false,
      files: false,
      run: false,
      size: false,
      plan: false,
      samples: new Set<SamplePurpose>(),
    };
    for (const item of items) {
      if (this.metrics.gate.admit(item.stream_seq)) changed.metrics = this.metrics.apply(item) || changed.metrics;
      changed.timeline = this.timeline.apply(item) || changed.timeline;
      this.events.apply(item);
      if (item.type === "samples") changed.samples.add(item.body.purpose);
      changed.files ||= item.type === "adapter" || item.type === "checkpoint";
      changed.size ||= item.type === "command_done" || (item.type === "lanes" && item.body.resize !== null);
      changed.plan ||= item.type === "plan";
      changed.run ||= CHANGES_RUN.has(item.type);
    }
    batch(() => {
      if (changed.metrics) this.metrics.version.value += 1;
      if (changed.timeline) this.timeline.version.value += 1;
      for (const purpose of changed.samples) this.samplesVersions[purpose].value += 1;
      if (changed.files) this.filesVersion.value += 1;
      if (changed.size) this.sizeVersion.value += 1;
      if (changed.plan) this.planVersion.value += 1;
      this.events.flush();
      this.logSeq.value = items
        .filter(isLogged)
        .reduce((last, item) => Math.max(last, item.stream_seq), this.logSeq.peek());
      this.lastReport.value = items.reduce((latest, item) => Math.max(latest, item.at), this.lastReport.peek());
      this.advanceProgress(items);
    });
    if (changed.run) this.askRun();
  }

  /** Progress moves at once with each version, which ends a batch; the row itself follows when it is read again. */
  private advanceProgress(items: readonly StreamItem[]): void {
    const run = this.run.value;
    if (!run) return;
    const done = items.reduce(
      (most, item) => (item.type === "publish" ? Math.max(most, item.body.policy_version) : most),
      run.num_batches_done,
    );
    if (done > run.num_batches_done) this.run.value = { ...run, num_batches_done: done };
  }

  private askRun(): void {
    if (this.refetchTimer !== undefined) return;
    this.refetchTimer = setTimeout(() => {
      this.refetchTimer = undefined;
      void this.refreshRun();
    }, RUN_REFETCH_MILLISECONDS);
  }
}
