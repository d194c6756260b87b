/** What runs measured: spans, curves, samples, groups, as payloads for tests: see `builders.ts`. */

import type {
  Curves,
  FragmentStory,
  GroupOfBatch,
  LaneInfo,
  Sample,
  Series,
  Timeline,
  TimelineSpan,
} from "../api/schema.ts";

/** A span of a lane; by default one second of work that belongs to nothing. */
export function span(fields: Partial<TimelineSpan> = {}): TimelineSpan {
  const { start = 0 } = fields;
  return {
    lane: "rollout-0",
    kind: "generate",
    start,
    end: start + 1,
    cause: null,
    batch: null,
    group: null,
    fragment: null,
    policy_version: null,
    num_samples: 0,
    num_units: 0,
    rank: null,
    for_run: null,
    num_spans: 1,
    ...fields,
  };
}

export function lane(name: string, fields: Partial<LaneInfo> = {}): LaneInfo {
  const role = name.startsWith("trainer") ? "trainer" : name.startsWith("reward") ? "reward" : "rollout";
  return { lane: name, role, node: "node-1", device: "cpu", pid: 1, uuids: [], shares: null, ...fields };
}

export function timeline(fields: Partial<Timeline> = {}): Timeline {
  return {
    lanes: [],
    spans: [],
    versions: [],
    queues: [],
    lends: [],
    resizes: [],
    plans: [],
    stream_seq: 0,
    now: 0,
    ...fields,
  };
}

/** Points of batches 1, 2, …, four optimizer steps each, one second apart from 100 on; `width` opens an envelope. */
export function series(value: readonly number[], width = 0): Series {
  return {
    batch: value.map((_, index) => index + 1),
    optimizer_step: value.map((_, index) => 4 * (index + 1)),
    at: value.map((_, index) => 100 + index),
    value: [...value],
    min: value.map((one) => one - width),
    max: value.map((one) => one + width),
  };
}

/** An answer of `/metrics`; it knows the metrics that it holds, and `others`. */
export function curvesAnswer(
  series: Readonly<Record<string, Series>>,
  stream_seq = 0,
  others: readonly string[] = [],
): Curves {
  return { series, keys: [...Object.keys(series), ...others], stream_seq };
}

export function sample(fields: Partial<Sample> = {}): Sample {
  return {
    purpose: "evaluate",
    batch: 1,
    attempt: 1,
    prompt_id: "0123456789abcdef",
    policy_version: 1,
    prompt: "a red square",
    prompt_index: 0,
    member: 0,
    seed: "1",
    reward: 0.5,
    rewards: {},
    missing: {},
    advantage: null,
    staleness: 0,
    lane: "rollout-0",
    media_type: "image/png",
    image_url: "/image.png",
    clip_url: null,
    ...fields,
  };
}

/** A fragment of four members that was generated and nothing more. */
export function fragmentStory(fields: Partial<FragmentStory> = {}): FragmentStory {
  return {
    batch: 3,
    group: 1,
    fragment: 0,
    attempt: 1,
    members: [0, 1, 2, 3],
    policy_version: 3,
    prompt_index: null,
    prompt: "",
    outcome: null,
    steps: [],
    ...fields,
  };
}

/** A group of 8 whose rewards differ. */
export function groupOfBatch(fields: Partial<GroupOfBatch> = {}): GroupOfBatch {
  return {
    group: 0,
    prompt_index: 0,
    mean_reward: 0.5,
    reward_std: 0.1,
    has_spread: true,
    num_dropped_draws: 0,
    num_missing: 0,
    num_repeated_fragments: 0,
    ...fields,
  };
}
