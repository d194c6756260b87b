/** The plans of a run for its timeline: read when they are first drawn, and anew when the run has another. */

import { signal } from "@preact/signals";
import { messageOf } from "../api/client.ts";
import type { PlannedTime, PublishedVersion } from "../api/schema.ts";
import { type BatchBesidePlan, batchesBesidePlan } from "./planned_batches.ts";
import type { Extent } from "./view.ts";

export type ReadPlans = () => Promise<readonly PlannedTime[]>;

/** Narrower batches are not drawn: their spans would be thinner than a pixel. */
const LEAST_BATCH_PIXELS = 12;

export class PlanOverlay {
  /** Whether the reader wants it. */
  readonly isOn = signal(true);
  private readonly plans = signal<readonly PlannedTime[]>([]);
  private isRead = false;

  /** `onRead` is called when there is something new to draw. */
  constructor(
    private readonly read: ReadPlans | null,
    private readonly onRead: () => void,
  ) {}

  /** Whether the run has a plan that is drawn, or one of which it is said why not. */
  get isOffered(): boolean {
    return this.plans.value.length > 0;
  }

  /** Whether lanes have a strip for it. */
  get isDrawn(): boolean {
    return this.isOn.value && this.plans.value.some(({ cycle }) => cycle.length > 0);
  }

  /** Why the newest plan is not drawn. */
  get notDrawn(): string | null {
    return this.plans.value.at(-1)?.not_drawn ?? null;
  }

  /** Lanes are drawn one by one, so that their plan can be. */
  show(): void {
    if (this.isRead || !this.read) return;
    this.isRead = true;
    void this.readPlans(this.read);
  }

  /** The run has lanes or a plan that it did not have before. */
  reset(): void {
    this.isRead = false;
  }

  /** The batches whose plan is drawn in a window; none where they are too narrow. */
  batches(
    versions: readonly PublishedVersion[],
    window: Extent,
    isLive: boolean,
    secondsPerPixel: number,
  ): BatchBesidePlan[] {
    if (!this.isOn.value) return [];
    return batchesBesidePlan(this.plans.value, versions, window, isLive).filter(
      ({ from, to, planned }) => ((to ?? from + planned.seconds) - from) / secondsPerPixel >= LEAST_BATCH_PIXELS,
    );
  }

  private async readPlans(read: ReadPlans): Promise<void> {
    try {
      this.plans.value = await read();
      this.onRead();
    } catch (error) {
      // The timeline is whole without it.
      console.warn(`the run's plans could not be read: ${messageOf(error)}`);
    }
  }
}
