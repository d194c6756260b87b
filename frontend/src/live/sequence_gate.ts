/** Which stream items a store has already applied: a REST snapshot covers everything up to its number. */

export class SequenceGate {
  private applied = 0;

  /** The highest number applied. */
  get last(): number {
    return this.applied;
  }

  /** A REST answer that holds everything up to `streamSeq` was loaded. */
  cover(streamSeq: number): void {
    this.applied = streamSeq;
  }

  /** True once for each item beyond what was applied; false for a repeat, which must be dropped. */
  admit(streamSeq: number): boolean {
    if (streamSeq <= this.applied) return false;
    this.applied = streamSeq;
    return true;
  }
}
