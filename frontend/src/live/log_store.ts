/** The entries of a run's log that match a filter, oldest first: read in pages either way, and on as the log grows.
 *
 *     socket: "the stream is at 812" ──► tell(812) ──► REST: entries after those covered ──► appended
 *
 * Invariants: entries are a stretch of the log without gaps, since everything is read over REST from a known number and
 * the socket only says that there is more; they are bounded, however long the run is watched and wherever one reads.
 */

import { batch, signal } from "@preact/signals";
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
/** Entries that are kept: beyond them those farthest from the reader are dropped, and read again when they are scrolled
 * to. */
const MAX_KEPT = 4000;
/** New entries come at most so often: several a second are one answer. */
const READ_MILLISECONDS = 400;
/** A read that failed is tried again after so long, where the stream is silent. */
const RETRY_MILLISECONDS = 3000;
/** Entries on the newer side of one that is looked up, with what came of it: it stands amid the screen. */
const NEWER_CONTEXT = 100;

export class LogStore {
  /** Oldest first. */
  readonly entries = signal<readonly LogEntry[]>([]);
  /** Entries that came since the reader left the newest end; at least so many where that end is not there. */
  readonly numNew = signal(0);
  /** Whether the newest end is there: not so around an entry that was looked up, or far above what has come since. */
  readonly hasNewest = signal(true);
  readonly hasOlder = signal(false);
  readonly isLoading = signal(true);
  readonly problem = signal<string | null>(null);
  /** Rises with each `open` that was answered: the entries are others. */
  readonly version = signal(0);

  private filter: LogFilter = {};
  private older: number | null = null;
  private isFollowing = true;
  /** Everything that matches is among the entries, or before them, up to this number. */
  private covered = 0;
  /** The run's stream is known to be so long. */
  private told = 0;
  /** Rises with each `open`: an answer to an earlier one is dropped. */
  private opened = 0;
  private isReading = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private retry: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly read: (asked: LogAsked) => Promise<LogPage>) {}

  /** Read the newest entries that match, or those around the one of that number. */
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
      const entries = [...older.results.toReversed(), ...(newer?.results ?? [])];
      const reached = cursorOf(newer?.next ?? null, "after_seq");
      batch(() => {
        this.numNew.value = 0;
        this.hasNewest.value = reached === null;
        this.covered = reached ?? Math.max(told, entries.at(-1)?.stream_seq ?? 0);
        this.setOlder(cursorOf(older.next, "before_seq"));
        this.entries.value = entries;
        this.problem.value = null;
        this.version.value += 1;
      });
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

  /** Whether the reader looks at the last of the entries: older ones make room for new ones then. */
  follow(isFollowing: boolean): void {
    this.isFollowing = isFollowing;
    if (isFollowing && this.hasNewest.peek()) this.numNew.value = 0;
  }

  /** Have the newest entries. */
  async toNewest(): Promise<void> {
    this.follow(true);
    if (!this.hasNewest.peek()) await this.open(this.filter);
  }

  async readOlder(): Promise<void> {
    if (this.older === null) return;
    const asked = { ...this.filter, before_seq: this.older, limit: PAGE };
    await this.readOnScroll(asked, ({ next, results }) => {
      this.setOlder(cursorOf(next, "before_seq"));
      this.setEntries([...results.toReversed(), ...this.entries.peek()], "newest");
    });
  }

  /** Read on towards the newest end, where that is not there. */
  async readNewer(): Promise<void> {
    if (this.hasNewest.peek()) return;
    const told = this.told;
    await this.readOnScroll({ ...this.filter, after_seq: this.covered, limit: PAGE }, (page) => {
      this.hasNewest.value = this.cover(page, told) === null;
      this.setEntries([...this.entries.peek(), ...page.results], "oldest");
    });
    this.schedule();
  }

  /** Read a page at either end; of several asks while one is read none counts. */
  private async readOnScroll(asked: LogAsked, take: (page: LogPage) => void): Promise<void> {
    if (this.isReading) return;
    this.isReading = true;
    const number = this.opened;
    try {
      const page = await this.read(asked);
      if (number === this.opened) batch(() => take(page));
    } catch (error) {
      if (number === this.opened) this.problem.value = messageOf(error);
    } finally {
      this.isReading = false;
    }
  }

  private schedule(): void {
    if (this.told <= this.covered || this.timer !== undefined || this.isLoading.peek() || !this.hasNewest.peek())
      return;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      void this.readNew();
    }, READ_MILLISECONDS);
  }

  private async readNew(): Promise<void> {
    const number = this.opened;
    const told = this.told;
    try {
      for (let pages = 0; pages < MAX_GROWN_PAGES; pages += 1) {
        const page = await this.read({ ...this.filter, after_seq: this.covered, limit: GROWN });
        if (number !== this.opened) return;
        const reached = this.cover(page, told);
        batch(() => this.grow(page.results));
        if (!this.hasNewest.peek()) return;
        if (reached === null) return this.schedule();
      }
      await this.open(this.filter);
    } catch {
      // What is shown stays, and is asked for again from the same number: by the stream's next item, or a while later.
      clearTimeout(this.retry);
      this.retry = setTimeout(() => this.schedule(), RETRY_MILLISECONDS);
    }
  }

  /** Note what a page of newer entries covers; the number to go on from, null at the log's end. */
  private cover(page: LogPage, told: number): number | null {
    const reached = cursorOf(page.next, "after_seq");
    this.covered = reached ?? Math.max(told, page.results.at(-1)?.stream_seq ?? 0);
    return reached;
  }

  private grow(newer: readonly LogEntry[]): void {
    if (newer.length === 0) return;
    const entries = [...this.entries.peek(), ...newer];
    if (!this.isFollowing) this.numNew.value += newer.length;
    this.setEntries(entries, this.isFollowing ? "oldest" : "newest");
  }

  /** Show these; of too many the `surplus` end is dropped. */
  private setEntries(entries: LogEntry[], surplus: "oldest" | "newest"): void {
    const numTooMany = entries.length - MAX_KEPT;
    if (numTooMany > 0 && surplus === "oldest") {
      entries.splice(0, numTooMany);
      this.setOlder(entries[0]?.stream_seq ?? null);
    } else if (numTooMany > 0) {
      entries.length = MAX_KEPT;
      this.covered = entries.at(-1)?.stream_seq ?? 0;
      this.hasNewest.value = false;
    }
    this.entries.value = entries;
  }

  private setOlder(older: number | null): void {
    this.older = older;
    this.hasOlder.value = older !== null;
  }
}

function cursorOf(next: string | null, name: string): number | null {
  return next === null ? null : Number(new URL(next).searchParams.get(name));
}
