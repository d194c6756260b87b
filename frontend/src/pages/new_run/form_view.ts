/** Which part of the form is on the page: the step, and the steps of which all settings are shown, which this browser
 * remembers. */

import { type Signal, signal } from "@preact/signals";
import { isOther, type StepId, stepOf } from "./steps.ts";

const KEY = "tandem.all-settings";

export class FormView {
  readonly step = signal<StepId>("model");
  readonly withAll: Signal<readonly string[]>;
  /** The path of an input that takes the focus as soon as it is drawn. */
  readonly wanted = signal<string | null>(null);

  constructor(private readonly storage: Pick<Storage, "getItem" | "setItem">) {
    this.withAll = signal(storage.getItem(KEY)?.split(",").filter(Boolean) ?? []);
  }

  showsAll(step: StepId): boolean {
    return this.withAll.value.includes(step);
  }

  showAll(step: StepId, isShown: boolean): void {
    if (this.showsAll(step) === isShown) return;
    const others = this.withAll.value.filter((one) => one !== step);
    this.withAll.value = isShown ? [...others, step] : others;
    this.storage.setItem(KEY, this.withAll.value.join(","));
  }

  /** Go to the input of a path, wherever in the form it is. */
  reveal(path: string): void {
    const step = stepOf(path);
    if (isOther(path)) this.showAll(step, true);
    this.step.value = step;
    this.wanted.value = path;
  }

  /** To be called once a step is drawn: moves the focus to what was asked for. */
  focusWanted(): void {
    const path = this.wanted.peek();
    if (path === null) return;
    this.wanted.value = null;
    const input = document.getElementById(`field-${path}`);
    input?.closest("details")?.setAttribute("open", "");
    input?.focus();
    input?.scrollIntoView({ block: "center" });
  }
}
