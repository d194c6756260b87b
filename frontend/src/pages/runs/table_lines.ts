/** The lines of the runs table: every row, and above each group its heading; a folded group has only the heading. */

import type { RunGroup } from "../../api/schema.ts";

export type Line =
  | { readonly kind: "heading"; readonly group: RunGroup; readonly isFolded: boolean }
  /** `offset` among all rows that match. */
  | { readonly kind: "row"; readonly offset: number };

interface Stretch {
  readonly group: RunGroup | null;
  readonly isFolded: boolean;
  readonly firstLine: number;
  readonly firstOffset: number;
  readonly numLines: number;
}

export class TableLines {
  readonly number: number;
  private readonly stretches: readonly Stretch[];

  constructor(numRows: number, groups: readonly RunGroup[], folded: ReadonlySet<string>) {
    const stretches: Stretch[] = [];
    let [firstLine, firstOffset] = [0, 0];
    if (groups.length === 0) {
      stretches.push({ group: null, isFolded: false, firstLine, firstOffset, numLines: numRows });
      firstLine = numRows;
    }
    for (const group of groups) {
      const isFolded = folded.has(group.value);
      const numLines = isFolded ? 1 : 1 + group.number;
      stretches.push({ group, isFolded, firstLine, firstOffset, numLines });
      firstLine += numLines;
      firstOffset += group.number;
    }
    this.number = firstLine;
    this.stretches = stretches;
  }

  /** The line of that index, from 0. */
  at(index: number): Line {
    const stretch = this.stretches.findLast(({ firstLine }) => firstLine <= index);
    if (!stretch || index >= this.number) throw new RangeError(`no line ${index} of ${this.number}`);
    const { group, isFolded } = stretch;
    const within = index - stretch.firstLine;
    if (group === null) return { kind: "row", offset: within };
    if (within === 0) return { kind: "heading", group, isFolded };
    return { kind: "row", offset: stretch.firstOffset + within - 1 };
  }

  /** The next line with a row from `index` on in a direction; `from` where there is none. */
  nextRow(from: number, by: 1 | -1): number {
    for (let index = from + by; index >= 0 && index < this.number; index += by) {
      if (this.at(index).kind === "row") return index;
    }
    return from;
  }
}
