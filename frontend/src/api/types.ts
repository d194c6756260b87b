/** The payloads of REST v1 and of the sockets, as the server writes them. Times are ISO text unless named `at`, `start`
 * or `end` in a telemetry payload, which are Unix seconds. */

import type { JsonObject } from "../base/paths.ts";
import type { FieldErrors } from "./client.ts";

export type RunState =
  | "queued" | "starting" | "running" | "paused" | "stopping" | "completed" | "stopped" | "cancelled" | "failed";

export const TERMINAL_STATES: readonly RunState[] = ["completed", "stopped", "cancelled", "failed"];

export interface Page<T> {
  readonly next: string | null;
  readonly results: readonly T[];
}

export interface Me {
  readonly id: string | number;
  readonly username: string;
  readonly is_staff: boolean;
}

export type ProjectRole = "viewer" | "editor" | "owner";

export interface Project {
  readonly id: string;
  readonly name: string;
  readonly role: ProjectRole | null;
}

export interface Member {
  readonly id: string | number;
  readonly username: string;
  readonly role: ProjectRole;
}

export interface Failure {
  readonly reason: string;
  readonly phase?: string;
  readonly details?: string;
  readonly suggestions?: readonly string[];
  readonly log_tail?: readonly string[] | string;
}

export interface Run {
  readonly id: string;
  readonly name: string;
  readonly project: Project;
  readonly state: RunState;
  readonly phase: string | null;
  readonly attempt: number;
  readonly max_attempts: number;
  readonly spec: JsonObject;
  readonly algebra: JsonObject | null;
  readonly algebra_text: string;
  readonly created_by: string | null;
  readonly created_at: string;
  readonly started_at: string | null;
  readonly ended_at: string | null;
  readonly state_changed_at: string;
  readonly last_heartbeat_at: string | null;
  readonly num_batches: number;
  readonly num_batches_done: number;
  readonly policy_version: number | null;
  readonly headline: Headline | null;
  readonly failure: Failure | null;
  readonly notes: string;
  readonly tags: readonly string[];
  readonly archived_at: string | null;
  readonly parent: string | null;
  readonly legal_actions: readonly string[];
  /** What a queued run waits for, in one sentence; empty otherwise. */
  readonly waiting: string;
}

/** What the runs list is told of a changed run: its own columns, not what they refer to. */
export type RunChange = { readonly id: string } & Partial<Omit<Run, "id" | "project">>;

export interface Headline {
  readonly reward_before?: number | null;
  readonly reward_after?: number | null;
  readonly [key: string]: unknown;
}

export interface Transition {
  readonly old: RunState | null;
  readonly new: RunState;
  readonly reason: string;
  readonly actor?: string;
  readonly attempt?: number;
  readonly at: string | number;
}

export interface LaneInfo {
  readonly lane: string;
  readonly role: string;
  readonly node: string;
  readonly device: string;
  readonly pid: number;
}

export interface MetricSeries {
  readonly batch: readonly number[];
  readonly step: readonly number[];
  readonly at: readonly number[];
  readonly value: readonly number[];
  readonly min?: readonly number[];
  readonly max?: readonly number[];
}

export interface MetricsAnswer {
  readonly series: Record<string, MetricSeries>;
  readonly stream_seq: number;
}

/** [lane_index, kind, start, end, cause, batch, group, version, num_samples] */
export type SpanRow = readonly [
  number, string, number, number, string | null, number | null, number | null, number | null, number,
];

/** A decision to let trainer lanes generate; settled once the batches then open have ended. */
export interface LendDecision {
  readonly decision: number;
  readonly attempt: number;
  readonly batch: number;
  readonly at: number;
  readonly lanes: readonly string[];
  readonly num_fragments: number;
  /** null: nothing was predicted, as greedy lending does. */
  readonly predicted_gain_seconds: number | null;
  readonly settled_at: number | null;
  readonly realised_gain_seconds: number | null;
}

/** A decision in the ledger. */
export interface Lend extends LendDecision {
  /** Fragments that its lanes generated; fewer than they all might: the loan was cut short. */
  readonly num_generated: number;
}

export interface LendingAnswer {
  /** Newest first. */
  readonly decisions: readonly Lend[];
  readonly totals: {
    readonly num_decisions: number;
    readonly num_graded: number;
    readonly mean_predicted_gain_seconds: number | null;
    readonly mean_realised_gain_seconds: number | null;
    readonly lent_seconds: number;
    readonly num_lent_fragments: number;
    readonly num_lent_samples: number;
    readonly switch_seconds: number;
    readonly num_switches: number;
  };
  readonly stream_seq: number;
}

/** The best of one mode, as the planner predicts it. */
export interface PlanChoice {
  readonly pipeline: JsonObject;
  readonly num_rollout: number;
  readonly num_trainer: number;
  readonly fragment_size: number;
  readonly samples_per_second: number;
  readonly batch_seconds: number;
  readonly bound_share: number;
  readonly mean_staleness: number | null;
}

export interface SplitPoint {
  readonly num_trainer: number;
  readonly samples_per_second: number;
  /** Simulated; otherwise an upper limit. */
  readonly is_rehearsed: boolean;
}

/** What the planner chooses for a spec, and what else there is. */
export interface Plan {
  readonly mode: string;
  readonly by_mode: Record<string, PlanChoice>;
  readonly curves: Record<string, readonly SplitPoint[]>;
  readonly bound_samples_per_second: number;
  readonly devices: readonly string[];
  readonly costs: "measured" | "profile";
  /** The model whose size stands for one that is not known; absent in plans made before it was kept. */
  readonly guessed_as?: string | null;
  readonly num_batches_measured: number;
  /** Of the runs it was measured on; absent in plans made before it was kept. */
  readonly fragment_sizes_measured?: readonly number[];
}

/** A plan made before there is a run, on the lanes that the pool has. */
export interface PlanPreview extends Plan {
  readonly fits_pool: boolean;
}

export interface StalenessOfBatch {
  readonly batch: number;
  /** Samples by how many versions they were behind. */
  readonly counts: Record<string, number>;
}

export interface TimelineAnswer {
  readonly lanes: readonly LaneInfo[];
  readonly spans: readonly SpanRow[];
  readonly versions: readonly { readonly version: number; readonly at: number }[];
  readonly queues: readonly { readonly at: number; readonly depths: Record<string, number> }[];
  readonly lends: readonly LendDecision[];
  readonly stream_seq: number;
  readonly now: number;
}

export interface BubblesAnswer {
  readonly total_seconds: number;
  readonly by_lane: Record<string, Record<string, number>>;
  readonly by_role: Record<string, Record<string, number>>;
  readonly by_class: Record<string, number>;
  readonly stream_seq: number;
}

export type Purpose = "train" | "evaluate" | "request";

export interface Sample {
  readonly purpose: Purpose;
  readonly batch: number;
  readonly policy_version: number;
  readonly prompt: string;
  readonly prompt_index: number;
  readonly member: number;
  /** Up to 64 bits, so it is text. */
  readonly seed: string;
  /** null: a trained reward does not understand the prompt, which happens to pictures asked for. */
  readonly reward: number | null;
  readonly rewards: Record<string, number>;
  /** Why a reward gave no score. */
  readonly missing: Record<string, string>;
  readonly advantage: number | null;
  readonly staleness: number;
  readonly lane: string;
  readonly media_type: string;
  /** The picture, or a clip's first frame. */
  readonly image_url: string;
  /** null: it is a picture. */
  readonly clip_url: string | null;
}

export interface SamplesAnswer {
  readonly batches: readonly number[];
  readonly results: readonly Sample[];
}

export interface StreamItem {
  readonly stream_seq: number;
  readonly type: string;
  readonly at: number;
  readonly attempt: number;
  readonly body: Record<string, unknown>;
}

export interface AdapterFile {
  /** Within the version's folder. */
  readonly path: string;
  readonly num_bytes: number;
  readonly sha256: string;
  readonly url: string;
}

export interface Adapter {
  readonly id: number;
  readonly batch: number;
  readonly policy_version: number;
  /** lora: one file; full: the whole transformer, in several. */
  readonly tuning: "lora" | "full";
  readonly final: boolean;
  readonly num_bytes: number;
  readonly sha256: string;
  readonly files: readonly AdapterFile[];
  /** What the archive unpacks to. */
  readonly folder: string;
  /** The LoRA file; of several files, all of them as one tar. */
  readonly url: string;
  readonly archive_url: string;
  readonly created_at: number;
}

export interface Checkpoint {
  readonly attempt: number;
  readonly batch: number;
  readonly policy_version: number;
  readonly optimizer_step: number;
  readonly uri: string;
  readonly num_bytes: number;
  readonly created_at: number;
}

export interface TryImage {
  readonly prompt: string;
  readonly seed: number;
  readonly media_type: string;
  /** null: it is a clip. */
  readonly image_url: string | null;
  /** null: it is a picture. */
  readonly clip_url: string | null;
}

export interface Try {
  readonly id: string;
  readonly state: "queued" | "running" | "done" | "failed";
  readonly prompts: readonly string[];
  readonly samples: readonly TryImage[];
  readonly base_samples: readonly TryImage[];
  readonly waiting: string;
  readonly error: string;
  readonly created_at: string;
}

export interface Validation {
  readonly ok: boolean;
  readonly errors: FieldErrors;
  readonly algebra: JsonObject | null;
  readonly algebra_text: string | null;
  /** What is legal and yet unlikely to work. */
  readonly warnings: readonly string[];
  readonly spec: JsonObject | null;
  readonly yaml: string | null;
}

export interface Preset {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly spec: JsonObject;
}

export interface BaseModel {
  readonly name: string;
  readonly family: string;
  readonly path: string;
  readonly description: string;
}

export interface PromptSet {
  readonly id: string;
  readonly name: string;
  readonly project: string;
  readonly prompts: readonly string[];
  readonly num_prompts: number;
  readonly created_at: string;
}

/** A token of a remote scorer, without its value. */
export interface Secret {
  readonly id: string;
  readonly name: string;
  readonly project: string;
  readonly host: string;
  readonly created_at: string;
}

export interface Token {
  readonly id: string;
  readonly name: string;
  readonly created_at: string;
  readonly expires_at: string | null;
}

export interface CreatedToken extends Token {
  readonly token: string;
}
