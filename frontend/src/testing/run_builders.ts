/** Runs, with their specs, plans, lanes and weights, as payloads for tests: see `builders.ts`. */

import type { Adapter, Plan, PlanChoice, ResizeReport, Run, RunSize, RunSpec } from "../api/schema.ts";
import { specDefaults } from "./committed.ts";

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
      publishing: "store",
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

/** A plan that chose `gap`, predicted from 12 batches measured. */
export function plan(fields: Partial<Plan> = {}): Plan {
  return {
    mode: "gap",
    trainers: [1],
    by_mode: { gap: planChoice() },
    curves: {},
    bound_samples_per_second: 2,
    devices: ["cpu"],
    scoring: { rewards_on: "cpu", reason: "", card_bytes: 0 },
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
    forked_from: "",
    resume_batch: null,
    ending: null,
    legal_actions: [],
    waiting: "",
    warning: "",
    sweep: null,
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
