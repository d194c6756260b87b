/** Keeps an answer to the newest question: asks when it has been quiet for a while, one request at a time since an answer
 * may take seconds, and drops an answer that a later question has overtaken. */

import { signal } from "@preact/signals";
import { messageOf } from "../../api/client.ts";
import { debounced } from "../../base/frames.ts";
import { type JsonObject, sameJson } from "../../base/paths.ts";

/** Longer than between two keys, so that a number is asked about once it is typed. */
const QUIET_MILLISECONDS = 700;

export class KeptAnswer<Answer> {
  readonly kept = signal<{ readonly question: JsonObject; readonly answer: Answer } | null>(null);
  readonly asking = signal(false);
  readonly error = signal<string | null>(null);
  private wanted: JsonObject | null = null;
  private readonly later: (question: JsonObject) => void;

  constructor(
    private readonly ask: (question: JsonObject) => Promise<Answer>,
    quiet = QUIET_MILLISECONDS,
  ) {
    this.later = debounced((question) => {
      if (sameJson(question, this.wanted ?? undefined)) void this.next();
    }, quiet);
  }

  want(question: JsonObject): void {
    if (sameJson(question, this.wanted ?? this.kept.peek()?.question)) return;
    this.wanted = question;
    this.later(question);
  }

  /** Ask the same again, since its answer may have changed. */
  again(): void {
    const last = this.kept.peek()?.question;
    if (last === undefined || this.wanted !== null) return;
    this.wanted = last;
    void this.next();
  }

  private async next(): Promise<void> {
    if (this.asking.peek()) return;
    this.asking.value = true;
    while (this.wanted !== null) {
      const question: JsonObject = this.wanted;
      try {
        const answer = await this.ask(question);
        this.kept.value = { question, answer };
        this.error.value = null;
      } catch (failure) {
        this.kept.value = null;
        this.error.value = messageOf(failure);
      }
      if (sameJson(question, this.wanted)) this.wanted = null;
    }
    this.asking.value = false;
  }
}
