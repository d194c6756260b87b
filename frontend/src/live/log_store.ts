/** The entries of a run's log that match a filter, newest first: read in pages, and on from the newest as it grows.
 *
 *     socket: "the stream is at 812" ──► tell(812) ──► REST: entries after the newest covered ──► shown, or waiting
 *
 * Invariants: entries are a stretch of the log without gaps, since everything is read over REST from a known number and
 * the socket only says that there is more; they are bounded, however long the run is watched.
 */

import { signal } from "@preact/signals";
import { messageOf } from "../api/client.ts";
import type { LogFilter } from "../api/endpoints.ts";
import type { LogEntry } from "../api/schema.ts";

export interface LogAsked extends LogFilter {
  readonly after_seq?: number;
  readonly before_seq?: number;
  readonly limit: number;
}

export interface LogPage {
  readonly next: string | null;
  readonly results: readonly LogEntry[];
}

/** Entries of a page: a few screens. */
const PAGE = 200;
/** Entries that are read at once where the log has grown. */
const GROWN = 500;
/** After so many pages of growth the log is opened anew, at its newest end. */
const MAX_GROWN_PAGES = 8;
/** Entries that are kept while the newest are followed; older ones are read again when they are scrolled to. */
const MAX_FOLLOWED = 4000;
/** New entries come at most so often: several a second are one answer. */
const READ_MILLISECONDS = 400;
/** A read that failed is tried again after so long, where the stream is silent. */
const RETRY_MILLISECONDS = 3000;
/** Entries on the newer side of one that is looked up: what came of it. */
const NEWER_CONTEXT = 12;

export class LogStore {
  /** Newest first. */
  readonly entries = signal<readonly LogEntry[]>([]);
  /** Newer ones that are not shown, because the reader has scrolled away from the newest. */
  readonly numWaiting = signal(0);
  /** Whether the newest end is there: not so around an entry that was looked up. */
  readonly hasNewest = signal(true);
  readonly hasOlder = signal(false);
  readonly isLoading = signal(true);
  readonly problem = signal<string | null>(null);

  private filter: LogFilter = {};
  private older: number | null = null;
  private waiting: readonly LogEntry[] = [];
  private isFollowing = true;
  /** Everything up to this number was read. */
  private covered = 0;
  /** The run's stream is known to be so long. */
  private told = 0;
  /** Rises with each `open`: an answer to an earlier one is dropped. */
  private opened = 0;
  private isReadingOlder = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private retry: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly read: (asked: LogAsked) => Promise<LogPage>) {}

  /** Show the newest entries that match, or those around the one of that number. */
  async open(filter: LogFilter, around?: number): Promise<void> {
    const number = ++this.opened;
    const told = this.told;
    this.filter = filter;
    this.isLoading.value = true;
    try {
      const [newer, older] = await Promise.all([
        around === undefined ? null : this.read({ ...filter, after_seq: around - 1, limit: NEWER_CONTEXT }),
        this.read({ ...filter, ...(around === undefined ? {} : { before_seq: around }), limit: PAGE }),
      ]);
      if (number !== this.opened) return;
      const entries = [...(newer?.results ?? []).toReversed(), ...older.results];
      this.waiting = [];
      this.numWaiting.value = 0;
      this.hasNewest.value = (newer?.next ?? null) === null;
      this.covered = Math.max(told, entries[0]?.stream_seq ?? 0);
      this.setOlder(older.next);
      this.entries.value = entries;
      this.problem.value = null;
    } catch (error) {
      if (number === this.opened) this.problem.value = messageOf(error);
    } finally {
      if (number === this.opened) this.isLoading.value = false;
    }
    this.schedule();
  }

  stop(): void {
    this.opened += 1;
    clearTimeout(this.timer);
    clearTimeout(this.retry);
  }

  /** The stream has grown to this number. */
  tell(streamSeq: number): void {
    this.told = Math.max(this.told, streamSeq);
    this.schedule();
  }

  /** While the reader looks at the newest entries new ones are shown; else they wait. */
  follow(isFollowing: boolean): void {
    this.isFollowing = isFollowing;
  }

  /** Show the newest entries. */
  async showNewest(): Promise<void> {
    this.isFollowing = true;
    if (!this.hasNewest.peek() || this.numWaiting.peek() > this.waiting.length) await this.open(this.filter);
    else this.grow([]);
  }

  async readOlder(): Promise<void> {
    if (this.isReadingOlder || this.older === null) return;
    this.isReadingOlder = true;
    const number = this.opened;
    try {
      const page = await this.read({ ...this.filter, before_seq: this.older, limit: PAGE });
      if (number !== this.opened) return;
      this.setOlder(page.next);
      this.entries.value = [...this.entries.peek(), ...page.results];
    } catch (error) {
      if (number === this.opened) this.problem.value = messageOf(error);
    } finally {
      this.isReadingOlder = false;
    }
  }

  private setOlder(next: string | null): void {
    this.older = cursorOf(next, "before_seq");
    this.hasOlder.value = this.older !== null;
  }

  private schedule(): void {
    if (this.told <= this.covered || this.timer !== undefined || this.isLoading.peek()) return;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      void this.readNew();
    }, READ_MILLISECONDS);
  }

  private async readNew(): Promise<void> {
    if (!this.hasNewest.peek()) return;
    const number = this.opened;
    const told = this.told;
    try {
      for (let pages = 0; pages < MAX_GROWN_PAGES; pages += 1) {
        const page = await this.read({ ...this.filter, after_seq: this.covered, limit: GROWN });
        if (number !== this.opened) return;
        const reached = cursorOf(page.next, "after_seq");
        this.covered = reached ?? Math.max(told, page.results.at(-1)?.stream_seq ?? 0);
        this.grow(page.results);
        if (reached === null) return this.schedule();
      }
      await this.open(this.filter);
    } catch {
      // What is shown stays, and is asked for again from the same number: by the stream's next item, or a while later.
      clearTimeout(this.retry);
      this.retry = setTimeout(() => this.schedule(), RETRY_MILLISECONDS);
    }
  }

  /** Newer entries, oldest first. */
  private grow(newer: readonly LogEntry[]): void {
    const fresh = [...newer.toReversed(), ...this.waiting];
    if (!this.isFollowing) {
      this.numWaiting.value += newer.length;
      // Beyond this many they are counted only, and read again when they are asked for.
      if (fresh.length <= MAX_FOLLOWED) this.waiting = fresh;
      return;
    }
    this.waiting = [];
    this.numWaiting.value = 0;
    if (fresh.length === 0) return;
    const entries = [...fresh, ...this.entries.peek()];
    if (entries.length > MAX_FOLLOWED) {
      entries.length = MAX_FOLLOWED;
      this.older = entries.at(-1)?.stream_seq ?? null;
      this.hasOlder.value = true;
    }
    this.entries.value = entries;
  }
}

function cursorOf(next: string | null, name: string): number | null {
  return next === null ? null : Number(new URL(next).searchParams.get(name));
}
