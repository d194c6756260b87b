/** Two schedules on one axis: the lanes as they were above the lanes as replayed. */

import type { Replay, ReplaySchedule } from "../../api/schema.ts";
import { TimelineState } from "../../timeline/timeline_state.ts";

/** Before the lane's name; their order in the alphabet is that on the page. */
const [RAN, REPLAYED] = ["Ran", "Replay"];

export function scheduleTimeline({ measured, chosen }: Replay): TimelineState {
  const state = new TimelineState();
  state.load({
    lanes: [],
    spans: [...named(measured, RAN), ...named(chosen, REPLAYED)],
    versions: [],
    queues: [],
    lends: [],
    resizes: [],
    plans: [],
    stream_seq: 0,
    now: 0,
  });
  return state;
}

function named({ spans }: ReplaySchedule, prefix: string | undefined) {
  return spans.map((span) => ({ ...span, lane: `${prefix} ${span.lane}`, num_spans: 1 }));
}
