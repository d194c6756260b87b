/** Reads the samples of one batch at a time, and keeps the ones read last: a slider that is dragged or plays over
 * thousands of batches asks for few of them, and never for two at once.
 *
 * Invariant: what is shown last is what was asked for last, however the answers arrive.
 */

import { signal } from "@preact/signals";
import { messageOf } from "../../api/client.ts";
import type { Samples } from "../../api/schema.ts";

/** Batches kept: enough to go back and forth over a stretch. What is kept are facts and addresses, not the pictures. */
export const MAX_KEPT = 40;

/** null: the newest batch, whichever that is. */
type Batch = number | null;

export class BatchReader {
  readonly shown = signal<Samples | undefined>(undefined);
  readonly error = signal<string | null>(null);
  private readonly kept = new Map<number, Samples>();
  private wanted: Batch = null;
  private isReading = false;

  constructor(private readonly read: (batch: number | undefined) => Promise<Samples>) {}

  /** Show a batch: at once where it is kept, else when it is read. */
  show(batch: Batch): void {
    this.wanted = batch;
    const kept = batch === null ? undefined : this.kept.get(batch);
    if (kept) this.shown.value = kept;
    else void this.readWanted();
  }

  /** Read again what is shown: the run has reported more, or a read failed. */
  refresh(): void {
    this.kept.clear();
    void this.readWanted();
  }

  private async readWanted(): Promise<void> {
    if (this.isReading) return;
    this.isReading = true;
    const batch = this.wanted;
    try {
      const answer = await this.read(batch ?? undefined);
      if (batch !== null) this.keep(batch, answer);
      if (batch === this.wanted) this.shown.value = answer;
      this.error.value = null;
    } catch (error) {
      if (batch === this.wanted) this.error.value = messageOf(error);
    }
    this.isReading = false;
    if (batch !== this.wanted) this.show(this.wanted);
  }

  private keep(batch: number, answer: Samples): void {
    this.kept.set(batch, answer);
    const [oldest] = this.kept.keys();
    if (this.kept.size > MAX_KEPT && oldest !== undefined) this.kept.delete(oldest);
  }
}
