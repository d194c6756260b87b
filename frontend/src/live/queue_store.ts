/** Everything the queue page knows of one pool: who waits, who holds lanes, shares and policy.
 *
 * The pool's socket says when the queue is to be read again; forecasts are read again now and then, since they move with
 * every batch. Invariant: at most one read is under way, and an answer about another pool than the chosen one is dropped.
 */

import { batch, signal } from "@preact/signals";
import { messageOf } from "../api/client.ts";
import { api } from "../api/endpoints.ts";
import type {
  Pool,
  PoolChangedFrame,
  PoolFrame,
  PoolPolicy,
  PoolShare,
  QueuedRun,
  RunningInPool,
} from "../api/schema.ts";
import { serverNow, setServerTime } from "../base/clock.ts";
import { type Connection, LiveSocket } from "./live_socket.ts";

/** Changes come in bursts, as when a run is granted its lanes. */
const REREAD_MILLISECONDS = 250;
/** For how long the first frame is waited for before the queue is read without it. */
const FIRST_FRAME_MILLISECONDS = 1500;
/** Rows that are read at first: a page of a thousand is slow to read, and nobody does. */
export const FIRST_ROWS = 100;
/** After which forecasts are read again, with the next frame of the socket. */
const FORECAST_SECONDS = 30;

export class QueueStore {
  readonly pools = signal<readonly Pool[]>([]);
  /** Name of the pool that is shown; empty before the pools are known. */
  readonly pool = signal("");
  readonly waiting = signal<readonly QueuedRun[]>([]);
  readonly running = signal<readonly RunningInPool[]>([]);
  readonly shares = signal<readonly PoolShare[]>([]);
  readonly policy = signal<PoolPolicy | null>(null);
  /** Whether the user is a pool admin. */
  readonly mayAct = signal(false);
  readonly loaded = signal(false);
  readonly problem = signal<string | null>(null);
  readonly connection = signal<Connection>("connecting");
  /** Server time when the connection was last known to hold. */
  readonly heardAt = signal(serverNow());
  /** The browser's time of the newest read, in Unix seconds. */
  readonly readAt = signal(0);

  private isWhole = false;
  private isReading = false;
  private isWanted = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private end: (() => void) | undefined;

  constructor(private readonly preferred = "") {}

  start(): void {
    const socket = new LiveSocket<PoolFrame>(() => "/ws/v1/pool", {
      onFrame: (frame) => this.receive(frame),
      onConnection: (connection) => {
        this.connection.value = connection;
      },
      onReceived: () => {
        this.heardAt.value = serverNow();
      },
    });
    this.end = socket.open();
    this.readSoon(FIRST_FRAME_MILLISECONDS);
  }

  stop(): void {
    this.end?.();
    clearTimeout(this.timer);
  }

  choose(pool: string): void {
    this.pool.value = pool;
    this.reload();
  }

  /** Read all runs that wait from now on. */
  readWhole(): void {
    this.isWhole = true;
    this.reload();
  }

  reload(): void {
    this.readSoon(0);
  }

  private receive(frame: PoolChangedFrame): void {
    setServerTime(frame.now);
    if (frame.changed === null) this.readSoon(0);
    else if (frame.queue || frame.changed.length > 0) this.readSoon(REREAD_MILLISECONDS);
    else if (Date.now() / 1000 - this.readAt.peek() > FORECAST_SECONDS) this.readSoon(0);
  }

  private readSoon(milliseconds: number): void {
    this.isWanted = true;
    clearTimeout(this.timer);
    if (!this.isReading) this.timer = setTimeout(() => void this.read(), milliseconds);
  }

  private async read(): Promise<void> {
    this.isReading = true;
    this.isWanted = false;
    try {
      await this.readPool();
    } catch (error) {
      if (this.loaded.peek()) console.warn(`the queue could not be read again: ${messageOf(error)}`);
      else this.problem.value = messageOf(error);
    } finally {
      this.isReading = false;
      if (this.isWanted) this.readSoon(REREAD_MILLISECONDS);
    }
  }

  private async readPool(): Promise<void> {
    const [pools, me] = await Promise.all([api.pools(), api.me()]);
    const names = pools.map(({ name }) => name);
    const wanted = [this.pool.peek(), this.preferred, ...names].find((name) => names.includes(name)) ?? "";
    if (wanted === "") return;
    const [waiting, running, shares, policy] = await Promise.all([
      api.queue(wanted, this.isWhole ? undefined : FIRST_ROWS),
      api.runningIn(wanted),
      api.shares(wanted),
      api.policy(wanted),
    ]);
    if (this.pool.peek() !== "" && this.pool.peek() !== wanted && names.includes(this.pool.peek())) return;
    batch(() => {
      this.pools.value = pools;
      this.mayAct.value = me.is_pool_admin;
      this.pool.value = wanted;
      this.waiting.value = waiting;
      this.running.value = running;
      this.shares.value = shares;
      this.policy.value = policy;
      this.readAt.value = Date.now() / 1000;
      this.problem.value = null;
      this.loaded.value = true;
    });
  }
}
