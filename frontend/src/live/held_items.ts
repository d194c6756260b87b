/** Items of the stream that arrive while something is read over REST: they are applied to the answer, which may lack
 * them. */

import type { StreamItem } from "../api/schema.ts";

export class HeldItems {
  private numReads = 0;
  private items: StreamItem[] = [];

  /** Keep an item if anything is being read. */
  hold(item: StreamItem): void {
    if (this.numReads > 0) this.items.push(item);
  }

  /** Read; `load` gets the answer with what has arrived meanwhile, in the order of its arrival. */
  async during<Answer>(
    read: () => Promise<Answer>,
    load: (answer: Answer, arrived: readonly StreamItem[]) => void,
  ): Promise<void> {
    const first = this.items.length;
    this.numReads += 1;
    try {
      const answer = await read();
      load(answer, this.items.slice(first));
    } finally {
      this.numReads -= 1;
      if (this.numReads === 0) this.items = [];
    }
  }
}
