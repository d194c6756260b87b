/** Items of a run's stream, as payloads for tests: see `builders.ts`. */

import type {
  LaneStallFields,
  LaneStallItem,
  LaneStartItem,
  LendItem,
  LogItem,
  MetricsItem,
  OutOfMemoryItem,
  PhaseItem,
  PublishItem,
  ResumedItem,
  RewardHackingFields,
  RewardHackingItem,
  SlowLanesItem,
  Span,
  SpansItem,
  StreamItem,
} from "../api/schema.ts";

type Envelope = Pick<StreamItem, "stream_seq"> & { readonly at?: number; readonly attempt?: number };

const envelope = ({ stream_seq, at = stream_seq, attempt = 1 }: Envelope) => ({ stream_seq, at, attempt });

export function spansItem(stream_seq: number, spans: readonly Span[]): SpansItem {
  return { ...envelope({ stream_seq }), type: "spans", body: { spans } };
}

export function metricsItem(stream_seq: number, batch: number, values: Readonly<Record<string, number>>): MetricsItem {
  return { ...envelope({ stream_seq }), type: "metrics", body: { batch, optimizer_step: 4 * batch, values } };
}

export function publishItem(stream_seq: number, policy_version: number): PublishItem {
  const body = { policy_version, num_bytes: 1, num_tensors: 1, sha256: "", seconds: 0.1, num_direct: 0, num_missed: 0 };
  return { ...envelope({ stream_seq }), type: "publish", body };
}

export function logItem(stream_seq: number, message = "a line", level: LogItem["body"]["level"] = "info"): LogItem {
  return { ...envelope({ stream_seq }), type: "log", body: { level, source: "driver", message } };
}

export function phaseItem(stream_seq: number): PhaseItem {
  return { ...envelope({ stream_seq }), type: "phase", body: { phase: "train", detail: "" } };
}

export function laneStartItem(stream_seq: number): LaneStartItem {
  return { ...envelope({ stream_seq }), type: "lane_start", body: { step: "ready", lanes: ["rollout-0"] } };
}

/** Stands still since second 100 with a generation, of which the longest took 5 s. */
export function laneStallItem(fields: Partial<LaneStallFields> = {}, stream_seq = 1, attempt = 1): LaneStallItem {
  const body: LaneStallFields = {
    lane: "rollout-0",
    work: "generate",
    state: "slow",
    since: 100,
    limit_seconds: 120,
    longest_seconds: 5,
    stack: ["generate_all (sampler.py:120)", "synchronize (torch.py:8)"],
    ...fields,
  };
  return { ...envelope({ stream_seq, attempt }), type: "lane_stall", body };
}

export function outOfMemoryItem(lane: string, sentence: string, stream_seq = 1): OutOfMemoryItem {
  const shortage = { work: "decode", asked_bytes: null, capacity_bytes: null, planned_bytes: {}, remedy: "" };
  return { ...envelope({ stream_seq }), type: "out_of_memory", body: { lane, sentence, shortage } };
}

/** Measured in 4 batches. */
export function slowLanesItem(lanes: Readonly<Record<string, number>>, stream_seq = 1): SlowLanesItem {
  return { ...envelope({ stream_seq }), type: "slow_lanes", body: { batch: 4, lanes } };
}

export function resumedItem(stream_seq: number, batch: number): ResumedItem {
  return {
    ...envelope({ stream_seq }),
    type: "resumed",
    body: { batch, policy_version: batch, optimizer_step: 4 * batch },
  };
}

export function lendItem(
  stream_seq: number,
  decision: number,
  gains: { readonly predicted?: number; readonly least?: number; readonly realised?: number } = {},
): LendItem {
  return {
    ...envelope({ stream_seq }),
    type: "lend",
    body: {
      decision,
      batch: 1,
      lanes: ["trainer-0"],
      num_fragments: 1,
      predicted_gain_seconds: gains.predicted ?? null,
      least_gain_seconds: gains.least ?? null,
      realised_gain_seconds: gains.realised ?? null,
    },
  };
}

/** Suspected over 40 batches, by default after batch 60, by the monitored judge. */
export function hackingItem(fields: Partial<RewardHackingFields> = {}, stream_seq = 1): RewardHackingItem {
  const body: RewardHackingFields = {
    suspected: true,
    batch: 60,
    num_batches: 40,
    monitored: "shape_judge",
    optimised_change: { change: 0.12, standard_error: 0.01 },
    monitored_change: { change: -0.2, standard_error: 0.02 },
    ...fields,
  };
  return { stream_seq, type: "reward_hacking", at: stream_seq, attempt: 1, body };
}
