/** Two schedules as two timelines on one axis: where one is moved, the other shows the same. */

import type { Replay, ReplaySchedule } from "../../api/schema.ts";
import { TimelineState } from "../../timeline/timeline_state.ts";

export interface ReplayTimelines {
  readonly ran: TimelineState;
  readonly replayed: TimelineState;
}

export function replayTimelines({ measured, chosen, first_batch, num_batches_drawn }: Replay): ReplayTimelines {
  const drawn = [measured, chosen].map(({ batch_seconds }) => batch_seconds.slice(0, num_batches_drawn));
  const longest = Math.max(...drawn.map((batches) => batches.reduce((sum, seconds) => sum + seconds, 0)));
  const timelineOf = (schedule: ReplaySchedule) => loaded(schedule, first_batch, num_batches_drawn, longest);
  return { ran: timelineOf(measured), replayed: timelineOf(chosen) };
}

/** Let each of two timelines follow the other; returns what ends it. */
export function linked({ ran, replayed }: ReplayTimelines): () => void {
  const follow = (leader: TimelineState, follower: TimelineState) =>
    leader.window.moves.subscribe(() => {
      if (leader.window.view) follower.window.take(leader.window.view);
    });
  const ends = [follow(ran, replayed), follow(replayed, ran)];
  return () => {
    for (const end of ends) end();
  };
}

/** A version stands where each batch ended. */
function loaded(schedule: ReplaySchedule, firstBatch: number, numBatches: number, longest: number): TimelineState {
  const state = new TimelineState(() => 0, {}, { from: 0, to: longest });
  let at = 0;
  const versions = schedule.batch_seconds.slice(0, numBatches).map((seconds, index) => {
    at += seconds;
    return { policy_version: firstBatch + index, at };
  });
  state.load({
    lanes: [],
    spans: schedule.spans.map((span) => ({ ...span, num_spans: 1 })),
    versions,
    queues: [],
    lends: [],
    resizes: [],
    plans: [],
    stream_seq: 0,
    now: 0,
  });
  return state;
}
