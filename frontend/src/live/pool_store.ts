/** Everything the pool page knows: a REST snapshot once the socket is open, then its frames, put into some nodes with
 * each painted frame, so that a large pool never keeps the page from answering.
 *
 * Frames carry live values, and the ids of nodes that are to be read again, because who holds a lane is not for every
 * user to see. Invariant: at most one read is under way; ids that come meanwhile wait for the next.
 */

import { batch, signal } from "@preact/signals";
import { messageOf } from "../api/client.ts";
import { api } from "../api/endpoints.ts";
import type { PoolChangedFrame, PoolFacts, PoolFrame, PoolNode } from "../api/schema.ts";
import { serverNow, setServerTime } from "../base/clock.ts";
import { unixSeconds } from "../base/format.ts";
import { oncePerFrame } from "../base/frames.ts";
import { type Connection, LiveSocket } from "./live_socket.ts";
import { type LiveRows, liveRows, withLive, withRead } from "./pool_rows.ts";

/** Changes come in bursts, as when a run is granted its lanes: their nodes are read together. */
const REFETCH_MILLISECONDS = 250;
/** For how long the first frame is waited for before the pool is read without it. */
const FIRST_FRAME_MILLISECONDS = 1500;
/** Ids of more nodes make an address too long: all are read then. */
const MOST_IDS = 200;

/** Nodes that get live values in one painted frame: drawing those of 16 with 8 GPUs each takes some ten milliseconds. */
const NODES_AT_ONCE = 16;

export class PoolStore {
  readonly nodes = signal<readonly PoolNode[]>([]);
  readonly facts = signal<PoolFacts | null>(null);
  /** Whether the user is a pool admin. */
  readonly mayAct = signal(false);
  readonly loaded = signal(false);
  readonly problem = signal<string | null>(null);
  readonly connection = signal<Connection>("connecting");
  /** Server time when the connection was last known to hold. */
  readonly heardAt = signal(serverNow());
  /** When the node agent last reported, in the server's Unix seconds; null if it never has. */
  readonly reportedAt = signal<number | null>(null);

  /** `only`: ids of the nodes that the page shows; all without it. */
  constructor(private readonly only?: readonly number[]) {}

  private frames: PoolChangedFrame[] = [];
  /** Live values on their way into the nodes, and the first node that still waits for them. */
  private flowing: { readonly live: LiveRows; first: number }[] = [];
  /** What is to be read: null for everything. */
  private wanted: Set<number> | null = new Set();
  private isReading = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private end: (() => void) | undefined;
  private readonly askFrame = oncePerFrame(() => this.applyFrames());

  start(): void {
    const socket = new LiveSocket<PoolFrame>(() => "/ws/v1/pool", {
      onFrame: (frame) => this.receive(frame),
      onConnection: (connection) => {
        this.connection.value = connection;
        if (connection === "reconnecting" && !this.loaded.peek()) this.readSoon(null, 0);
      },
      onReceived: () => {
        this.heardAt.value = serverNow();
      },
    });
    this.end = socket.open();
    this.readSoon(null, FIRST_FRAME_MILLISECONDS);
  }

  stop(): void {
    this.end?.();
    clearTimeout(this.timer);
  }

  /** Read the whole pool again. */
  reload(): void {
    this.readSoon(null, 0);
  }

  /** Rows that an action of this page answered with. */
  apply(read: readonly PoolNode[]): void {
    this.nodes.value = withRead(this.nodes.peek(), read, new Set(read.map(({ id }) => id)));
  }

  private receive(frame: PoolChangedFrame): void {
    this.frames.push(frame);
    this.askFrame();
    if (frame.changed === null) this.readSoon(null, 0);
    const changed = frame.changed?.filter((id) => this.only?.includes(id) ?? true) ?? [];
    if (changed.length > 0) this.readSoon(changed, REFETCH_MILLISECONDS);
  }

  private applyFrames(): void {
    const frames = this.frames;
    this.frames = [];
    batch(() => {
      for (const frame of frames) this.begin(frame);
      const [next] = this.flowing;
      if (next === undefined) return;
      this.nodes.value = withLive(this.nodes.peek(), next.live, next.first, NODES_AT_ONCE);
      next.first += NODES_AT_ONCE;
      if (next.first >= this.nodes.peek().length) this.flowing.shift();
    });
    if (this.flowing.length > 0) this.askFrame();
  }

  private begin(frame: PoolChangedFrame): void {
    setServerTime(frame.now);
    const newest = Math.max(this.reportedAt.peek() ?? 0, frame.reported_at ?? 0);
    if (newest > 0) this.reportedAt.value = newest;
    const live = liveRows(frame);
    if (live !== null) this.flowing.push({ live, first: 0 });
  }

  private readSoon(ids: readonly number[] | null, milliseconds: number): void {
    if (ids === null) this.wanted = null;
    else for (const id of ids) this.wanted?.add(id);
    clearTimeout(this.timer);
    if (!this.isReading) this.timer = setTimeout(() => void this.read(), milliseconds);
  }

  private async read(): Promise<void> {
    const asked = this.wanted !== null && this.wanted.size <= MOST_IDS ? this.wanted : null;
    this.wanted = new Set();
    this.isReading = true;
    try {
      if (asked === null) await this.readAll();
      else if (asked.size > 0) this.nodes.value = withRead(this.nodes.peek(), await api.nodes([...asked]), asked);
    } catch (error) {
      // Where there are rows they stay, with their age; the socket's next poll names what has changed since.
      if (this.loaded.peek()) console.warn(`the pool could not be read again: ${messageOf(error)}`);
      else this.problem.value = messageOf(error);
    } finally {
      this.isReading = false;
      if (this.wanted === null || this.wanted.size > 0) this.readSoon([], REFETCH_MILLISECONDS);
    }
  }

  private async readAll(): Promise<void> {
    const [facts, me, nodes] = await Promise.all([api.pool(), api.me(), api.nodes(this.only)]);
    setServerTime(unixSeconds(facts.now) ?? Date.now() / 1000);
    batch(() => {
      this.facts.value = facts;
      this.mayAct.value = me.is_pool_admin || me.is_superuser;
      this.nodes.value = withRead(this.nodes.peek(), nodes, null);
      this.reportedAt.value = Math.max(unixSeconds(facts.agent_reported_at) ?? 0, this.reportedAt.peek() ?? 0) || null;
      this.problem.value = null;
      this.loaded.value = true;
    });
  }
}
