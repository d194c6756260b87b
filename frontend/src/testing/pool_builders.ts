/** The pool: nodes, GPUs, lanes, who waits and who lends, as payloads for tests: see `builders.ts`. */

import type {
  GpuFaults,
  GpuLive,
  Lend,
  PoolChangedFrame,
  PoolGpu,
  PoolLane,
  PoolNode,
  PoolShare,
  QueuedRun,
} from "../api/schema.ts";

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
    operation: null,
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
    figures: null,
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
    object_store_bytes: null,
    shm_free_bytes: null,
    spill_free_bytes: null,
    embeddings_room_bytes: null,
    load: 1.5,
    in_cluster_at: "2026-01-01T00:00:00Z",
    reported_at: "2026-01-01T00:00:00Z",
    reader_error: "",
    gpus_per_lane: 1,
    labels: {},
    notes: "",
    price_per_gpu_hour: null,
    num_lanes: 3,
    operation: null,
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
