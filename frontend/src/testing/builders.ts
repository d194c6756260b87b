/** Payloads for tests, typed by the contract: each takes what matters to the test, and fills in the rest. */

import type {
  Adapter,
  Curves,
  FragmentStory,
  GpuFaults,
  GpuLive,
  GroupOfBatch,
  LaneInfo,
  Lend,
  LendItem,
  LogItem,
  MetricsItem,
  PhaseItem,
  Plan,
  PlanChoice,
  PoolChangedFrame,
  PoolGpu,
  PoolLane,
  PoolNode,
  PoolShare,
  PublishItem,
  QueuedRun,
  ResizeReport,
  ResumedItem,
  RewardHackingFields,
  RewardHackingItem,
  Run,
  RunSize,
  RunSpec,
  Sample,
  Series,
  Span,
  SpansItem,
  StreamItem,
  Timeline,
  TimelineSpan,
} from "../api/schema.ts";
import { specDefaults } from "./committed.ts";

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
  return { lane: name, role, node: "node-1", device: "cpu", pid: 1, uuids: [], ...fields };
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

type Envelope = Pick<StreamItem, "stream_seq"> & { readonly at?: number; readonly attempt?: number };

const envelope = ({ stream_seq, at = stream_seq, attempt = 1 }: Envelope) => ({ stream_seq, at, attempt });

export function spansItem(stream_seq: number, spans: readonly Span[]): SpansItem {
  return { ...envelope({ stream_seq }), type: "spans", body: { spans } };
}

export function metricsItem(stream_seq: number, batch: number, values: Readonly<Record<string, number>>): MetricsItem {
  return { ...envelope({ stream_seq }), type: "metrics", body: { batch, optimizer_step: 4 * batch, values } };
}

export function publishItem(stream_seq: number, policy_version: number): PublishItem {
  const body = { policy_version, num_bytes: 1, num_tensors: 1, sha256: "", seconds: 0.1 };
  return { ...envelope({ stream_seq }), type: "publish", body };
}

export function logItem(stream_seq: number, message = "a line", level: LogItem["body"]["level"] = "info"): LogItem {
  return { ...envelope({ stream_seq }), type: "log", body: { level, source: "driver", message } };
}

export function phaseItem(stream_seq: number): PhaseItem {
  return { ...envelope({ stream_seq }), type: "phase", body: { phase: "train", detail: "" } };
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

export function planChoice(fields: Partial<PlanChoice> = {}): PlanChoice {
  return {
    pipeline: {
      placement: "disaggregated",
      gap: false,
      tsp: false,
      tag: "off",
      max_staleness: 0,
      stale_clip: "proximal",
      importance_cap: null,
      deterministic: false,
    },
    num_rollout: 1,
    num_trainer: 1,
    fragment_size: 4,
    samples_per_second: 1,
    batch_seconds: 1,
    is_simulated: true,
    bound_share: 0.5,
    mean_staleness: null,
    memory_bytes: {},
    ...fields,
  };
}

/** A plan that chose `gap`, predicted from 12 batches measured. */
export function plan(fields: Partial<Plan> = {}): Plan {
  return {
    mode: "gap",
    trainers: [1],
    by_mode: { gap: planChoice() },
    curves: {},
    bound_samples_per_second: 2,
    devices: ["cpu"],
    costs: "measured",
    stand_in_profile: null,
    num_batches_measured: 12,
    fragment_sizes_measured: [],
    expected: [],
    ...fields,
  };
}

/** A version of a run: one file is a LoRA, several are weights. */
export function adapter(paths: readonly string[] = ["pytorch_lora_weights.safetensors"]): Adapter {
  return {
    id: 7,
    attempt: 1,
    batch: 2,
    policy_version: 2,
    tuning: paths.length > 1 ? "full" : "lora",
    final: true,
    num_bytes: 1,
    sha256: "b".repeat(64),
    files: paths.map((path) => ({ path, num_bytes: 1, sha256: "a".repeat(64), url: `/files/${path}` })),
    folder: "mine-v2",
    url: "/archive",
    archive_url: "/archive",
    created_at: 0,
  };
}

/** A spec of the contract's defaults, with these rewards. */
export function spec(rewards: readonly Partial<RunSpec["rewards"][number]>[] = [{}]): RunSpec {
  const prompts = { inline: ["a red square", "a blue circle"], prompt_set: null };
  return { ...specDefaults(), prompts, rewards: rewards.map(reward) };
}

function reward(fields: Partial<RunSpec["rewards"][number]>): RunSpec["rewards"][number] {
  return {
    name: "shape_match",
    label: null,
    weight: 1,
    watched: false,
    required: true,
    timeout_seconds: 120,
    num_retries: 2,
    settings: null,
    ...fields,
  };
}

export function run(fields: Partial<Run> = {}): Run {
  return {
    id: "run-1",
    name: "first",
    state: "running",
    state_changed_at: "2026-01-01T00:00:00Z",
    phase: "train",
    attempt: 1,
    num_batches: 20,
    num_batches_done: 0,
    policy_version: 0,
    headline: {},
    created_at: "2026-01-01T00:00:00Z",
    started_at: "2026-01-01T00:00:10Z",
    ended_at: null,
    tags: [],
    archived_at: null,
    project: { id: "project-1", name: "Shapes", role: "owner" },
    max_attempts: 3,
    spec: spec(),
    algebra: ALGEBRA,
    algebra_text: "8 groups of 8",
    num_prompts: 8,
    created_by: "alice",
    last_heartbeat_at: null,
    failure: null,
    notes: "",
    parent: null,
    forked_batch: null,
    resume_batch: null,
    ending: null,
    legal_actions: [],
    waiting: "",
    warning: "",
    ...fields,
  };
}

const ALGEBRA: Run["algebra"] = {
  num_groups: 8,
  group_size: 8,
  num_trajectories: 64,
  fragment_size: 8,
  num_fragments: 8,
  num_trajectories_per_call: 8,
  num_minibatches: 1,
  num_epochs: 1,
  num_groups_per_minibatch: 8,
  num_trained_denoising_steps: 9,
  num_trained_members: null,
  num_pairs_per_optimizer_step: 576,
  micro_batch_size: 8,
  num_denoising_steps_per_micro_batch: 1,
  num_micro_batches_per_optimizer_step: 72,
  num_optimizer_steps_per_batch: 1,
  filter_groups: false,
  max_resamples: 0,
};

/** A run with two rollout lanes, a trainer lane and a reward lane, and some lanes that are free. */
export function runSize(fields: Partial<RunSize> = {}): RunSize {
  return {
    lanes: [
      { lane: "rollout-0", role: "rollout", node: "a", device: "H100" },
      { lane: "rollout-1", role: "rollout", node: "a", device: "H100" },
      { lane: "trainer-0", role: "trainer", node: "a", device: "H100" },
      { lane: "reward-0", role: "reward", node: "a", device: "cpu" },
    ],
    roles: ["rollout", "trainer", "reward"],
    free: [
      { role: "rollout", device: "H100", number: 2 },
      { role: "trainer", device: "H100", number: 2 },
      { role: "reward", device: "cpu", number: 5 },
    ],
    trainer_change_seconds: null,
    is_trainer_change_measured: false,
    resizes: [],
    ...fields,
  };
}

/** A resize that has added a rollout lane. */
export function resizeReport(fields: Partial<ResizeReport> = {}): ResizeReport {
  return {
    id: "resize-1",
    cause: "user",
    state: "done",
    reason: "",
    lanes: [{ lane: "rollout-1", role: "rollout", step: "joined", detail: "", num_dropped: 0 }],
    trainer_seconds: null,
    ...fields,
  };
}

/** A GPU that is free, of an 80 GiB card. */
export function poolGpu(id: number, fields: Partial<PoolGpu> = {}): PoolGpu {
  return {
    id,
    node: "gpu0",
    uuid: `GPU-${id}`,
    index: id,
    accelerator: "NVIDIA H100 80GB HBM3",
    lane: `gpu0/gpu-${id}`,
    ...FREE,
    health: "healthy",
    health_causes: [],
    remedy: "none",
    health_since: "2026-01-01T00:00:00Z",
    slow_factor: null,
    idle_since: null,
    longest_idle_seconds: 0,
    labels: {},
    notes: "",
    price_per_gpu_hour: null,
    identity: gpuIdentity(),
    topology: { numa_node: 0, nvlink_peers: [], num_nvlinks_up: null },
    live: gpuLive(),
    faults: gpuFaults(),
    reported_at: "2026-01-01T00:00:00Z",
    test: null,
    ...fields,
  };
}

const FREE = {
  state: "available",
  state_when_free: "available",
  reason: "",
  place: "",
  changed_by: "",
  since: null,
  until: null,
} as const;

function gpuIdentity(): NonNullable<PoolGpu["identity"]> {
  return {
    uuid: "GPU-1",
    index: 0,
    vendor: "nvidia",
    model: "NVIDIA H100 80GB HBM3",
    architecture: "Hopper",
    compute_capability: "9.0",
    memory_bytes: 80 * 2 ** 30,
    pci_address: "0000:01:00.0",
    driver: "570",
    runtime: "12.8",
    max_sm_clock: 1980,
    parent_uuid: "",
  };
}

export function gpuLive(fields: Partial<GpuLive> = {}): GpuLive {
  return {
    utilisation: null,
    memory_used_bytes: null,
    temperature: null,
    memory_temperature: null,
    power: null,
    power_limit: null,
    energy_joules: null,
    sm_clock: null,
    memory_clock: null,
    num_processes: null,
    nvlink_bytes_per_second: null,
    ...fields,
  };
}

export function gpuFaults(fields: Partial<GpuFaults> = {}): GpuFaults {
  return {
    xids: {},
    ecc_corrected: null,
    ecc_uncorrected: null,
    remapped_rows: null,
    retired_pages: null,
    remap_pending: false,
    remap_failed: false,
    throttle_reasons: [],
    pcie_replays: null,
    nvlink_errors: null,
    recovery_action: "",
    is_lost: false,
    ...fields,
  };
}

/** A CPU lane that is free. */
export function poolLane(id: number, fields: Partial<PoolLane> = {}): PoolLane {
  return {
    id,
    node: "gpu0",
    pool: "default",
    label: `gpu0/cpu-${id}`,
    kind: "cpu",
    device: "cpu",
    ...FREE,
    takes_work: true,
    role: "",
    held_since: null,
    run_id: null,
    run_name: "",
    ...fields,
  };
}

/** A node with the GPUs 1 and 2, a lane for each, and CPU lane 9. */
export function poolNode(id = 1, fields: Partial<PoolNode> = {}): PoolNode {
  return {
    id,
    name: `gpu${id - 1}`,
    address: "10.0.0.1",
    state: "available",
    place: "",
    reason: "",
    changed_by: "",
    since: null,
    until: null,
    is_drained: false,
    num_cores: 32,
    memory_bytes: 2 ** 40,
    memory_used_bytes: 2 ** 38,
    load: 1.5,
    in_cluster_at: "2026-01-01T00:00:00Z",
    reported_at: "2026-01-01T00:00:00Z",
    reader_error: "",
    gpus_per_lane: 1,
    labels: {},
    notes: "",
    price_per_gpu_hour: null,
    num_lanes: 3,
    num_held: 0,
    gpus: [poolGpu(1), poolGpu(2)],
    lanes: [
      poolLane(11, { kind: "gpu", label: "gpu0/gpu-1", device: "1" }),
      poolLane(12, { kind: "gpu", label: "gpu0/gpu-2", device: "2" }),
      poolLane(9),
    ],
    ...fields,
  };
}

export function poolFrame(fields: Partial<PoolChangedFrame> = {}): PoolChangedFrame {
  const none = { ids: [], values: {} };
  return {
    kind: "pool",
    now: 0,
    reported_at: null,
    changed: [],
    alive: [],
    nodes: none,
    gpus: none,
    queue: false,
    ...fields,
  };
}

/** A run that waits alone, first, for 3 CPU lanes; by default nothing is known of its start. */
export function queuedRun(name: string, fields: Partial<QueuedRun> = {}): QueuedRun {
  return {
    pool: "default",
    position: 0,
    run_id: `id of ${name}`,
    run_name: name,
    project_id: "p",
    project_name: "Shapes",
    priority: "normal",
    lanes: { cpu: 3 },
    since: "2026-01-01T00:00:00Z",
    why: "",
    starts: null,
    duration_basis: "unknown",
    blockers: [],
    ahead: { num_runs: 0, num_runs_of_others: 0, num_other_projects: 0, lanes: {} },
    moved: null,
    may_change: true,
    ...fields,
  };
}

/** A project without a share of its own, which holds nothing of a pool. */
export function poolShare(name: string, fields: Partial<PoolShare> = {}): PoolShare {
  return {
    pool: "default",
    project_id: `id of ${name}`,
    project_name: name,
    guaranteed_lanes: 0,
    max_lanes: null,
    weight: 1,
    entitled_lanes: 4,
    held_lanes: 0,
    used_lane_hours: 0,
    num_waiting: 0,
    ...fields,
  };
}

/** A lane of the pool that a run had for a while. */
export function lend(fields: Partial<Lend> = {}): Lend {
  return {
    id: `lend-${fields.lane ?? ""}-${fields.begin ?? ""}`,
    kind: "between_runs",
    lane: "node-1/gpu-0",
    lane_in_run: "rollout-1",
    gpus: ["node-1/gpu-0"],
    role: "rollout",
    lender_kind: "pool",
    lender: "",
    lender_project: null,
    run: "run-1",
    run_name: "shapes",
    attempt: 1,
    project: "project-1",
    begin: "2026-01-01T00:00:00Z",
    end: null,
    reason: "idle",
    end_reason: "",
    for_run: null,
    for_run_name: "",
    notice_at: null,
    bound_seconds: null,
    return_seconds: null,
    num_dropped: 0,
    switch_seconds: null,
    num_samples: null,
    predicted_gain_seconds: null,
    least_gain_seconds: null,
    realised_gain_seconds: null,
    predicted_batch_seconds: null,
    measured_batch_seconds: null,
    predicted_batch_seconds_before: null,
    measured_batch_seconds_before: null,
    ...fields,
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
