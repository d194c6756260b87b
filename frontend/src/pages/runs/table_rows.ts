/** The rows of the runs table, read a stretch at a time where the reader looks, and kept live. */

import { signal } from "@preact/signals";
import { messageOf } from "../../api/client.ts";
import type { TableFilter } from "../../api/endpoints.ts";
import type { ListedRun, RunGroup, RunRow, RunTable } from "../../api/schema.ts";

/** Rows of one request. */
export const STRETCH = 100;

export type ReadTable = (filter: TableFilter, offset: number, limit: number) => Promise<RunTable>;

export class TableRows {
  /** Rises whenever something below has changed. */
  readonly version = signal(0);
  /** Of all runs that match; null before the first answer. */
  number: number | null = null;
  groups: readonly RunGroup[] = [];
  error: string | null = null;
  private filter: TableFilter = {};
  private stretches = new Map<number, readonly ListedRun[]>();
  private readonly asked = new Set<number>();
  /** Rises with each question anew: answers to earlier ones are dropped. */
  private generation = 0;
  private droppedFor = 0;
  private inView: readonly [number, number] = [0, 0];

  constructor(private readonly readTable: ReadTable) {}

  /** Show the rows of another filter, once they are here. */
  show(filter: TableFilter): void {
    this.filter = filter;
    this.inView = [0, 0];
    this.readAgain();
  }

  /** Read again what is in view; the rest when it comes into view. What is shown stays until then. */
  readAgain(): void {
    this.generation += 1;
    this.asked.clear();
    const [first, last] = this.inView;
    for (let nth = first; nth <= last; nth += 1) this.read(nth);
  }

  /** Rows from one offset to another come into view. */
  see(firstOffset: number, lastOffset: number): void {
    this.inView = [Math.floor(firstOffset / STRETCH), Math.floor(lastOffset / STRETCH)];
    for (let nth = this.inView[0]; nth <= this.inView[1]; nth += 1) if (!this.asked.has(nth)) this.read(nth);
  }

  /** The row of an offset; undefined while it is read. */
  at(offset: number): ListedRun | undefined {
    return this.stretches.get(Math.floor(offset / STRETCH))?.[offset % STRETCH];
  }

  /** The rows that are here, of the stretches in view. */
  nearView(): readonly ListedRun[] {
    const [first, last] = this.inView;
    return [...this.stretches].flatMap(([nth, rows]) => (nth >= first && nth <= last ? rows : []));
  }

  /** Put changes into the rows that are here; returns whether one is of a run that is in none of them. */
  apply(changes: ReadonlyMap<string, RunRow>): boolean {
    const known = new Set<string>();
    for (const [nth, rows] of this.stretches) {
      if (!rows.some(({ id }) => changes.has(id))) continue;
      for (const { id } of rows) known.add(id);
      this.stretches.set(
        nth,
        rows.map((run) => ({ ...run, ...changes.get(run.id) })),
      );
    }
    this.version.value += 1;
    return [...changes.keys()].some((id) => !known.has(id));
  }

  private read(nth: number): void {
    const { generation } = this;
    this.asked.add(nth);
    this.readTable(this.filter, nth * STRETCH, STRETCH).then(
      (table) => {
        if (generation !== this.generation) return;
        this.dropEarlier();
        this.stretches.set(nth, table.results);
        this.number = table.number;
        this.groups = table.groups;
        this.error = null;
        this.version.value += 1;
      },
      (error: unknown) => {
        if (generation !== this.generation) return;
        this.asked.delete(nth);
        this.error = messageOf(error);
        this.version.value += 1;
      },
    );
  }

  /** Rows that an earlier question brought may have moved: they go with the first answer to a later one. */
  private dropEarlier(): void {
    if (this.droppedFor === this.generation) return;
    this.droppedFor = this.generation;
    this.stretches = new Map([...this.stretches].filter(([nth]) => this.asked.has(nth)));
  }
}
