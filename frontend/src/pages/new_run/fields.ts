/** The form's groups of fields: their order, labels and units are chosen here. Help, bounds and choices come from the
 * server's schema (`spec_schema.ts`). */

export interface FieldSpec {
  readonly path: string;
  readonly label: string;
  readonly unit?: string;
  /** Shown in an empty input: what leaving it empty means. */
  readonly empty?: string;
  /** How a list is written: one entry a line, or words with commas between. */
  readonly list?: "lines" | "words";
}

export interface GroupSpec {
  readonly id: string;
  readonly title: string;
  readonly intro: string;
  readonly fields: readonly FieldSpec[];
  /** A section with variants, whose settings are shown after these fields. */
  readonly variants?: string;
}

const field = (path: string, label: string, unit = ""): FieldSpec => (unit ? { path, label, unit } : { path, label });

export const GROUPS: readonly GroupSpec[] = [
  {
    id: "algorithm",
    title: "Algorithm",
    intro: "How the policy learns from the rewards, and for how long.",
    variants: "algorithm",
    fields: [field("algorithm.name", "Algorithm"), field("num_batches", "Length", "batches"), field("seed", "Seed")],
  },
  {
    id: "batch",
    title: "Batch",
    intro: "Prompts become groups, groups are scored against each other, mini-batches close with an optimizer step.",
    fields: [
      field("batch.num_prompts_per_batch", "Prompts a batch"),
      field("batch.group_size", "Group size", "trajectories"),
      field("batch.num_minibatches", "Mini-batches"),
      field("batch.num_epochs_per_batch", "Epochs a batch"),
      field("batch.micro_batch_size", "Micro-batch", "pairs"),
      { ...field("batch.fragment_size", "Fragment", "trajectories"), empty: "the whole group" },
      field("batch.filter_groups", "Skip groups without spread"),
      field("batch.max_resamples", "Redraws a group", "at most"),
    ],
  },
  {
    id: "sampling",
    title: "Sampling",
    intro: "How pictures or clips are drawn in training and in evaluation.",
    fields: [
      field("sampling.num_denoising_steps", "Denoising steps"),
      field("sampling.num_eval_denoising_steps", "Evaluation steps"),
      field("sampling.height", "Height", "px"),
      field("sampling.width", "Width", "px"),
      field("sampling.num_frames", "Frames"),
      field("sampling.fps", "Frames a second"),
      field("sampling.guidance_scale", "Guidance"),
      { ...field("sampling.guidance_scale_2", "Guidance at low noise"), empty: "the same" },
      { ...field("sampling.train_guidance_scale", "Guidance in training"), empty: "the same" },
      field("sampling.negative_prompt", "Negative prompt"),
      { ...field("sampling.max_sequence_length", "Prompt length", "tokens"), empty: "the family's" },
      field("sampling.batched_cfg", "Guidance in one pass"),
      field("sampling.vae_tiling", "Decoding in tiles"),
      field("sampling.sde_type", "Kernel"),
      field("sampling.noise_level", "Noise level"),
      field("sampling.sde_start", "First stochastic step"),
      { ...field("sampling.num_sde_steps", "Stochastic steps"), empty: "all but the last" },
      field("sampling.old_log_probs", "Old log-probs from"),
    ],
  },
  {
    id: "tuning",
    title: "Weights and optimizer",
    intro: "What of the model is trained, and how fast.",
    fields: [
      field("tuning", "Trained weights"),
      field("lora.rank", "LoRA rank"),
      field("lora.alpha", "LoRA alpha"),
      { ...field("lora.targets", "LoRA target modules", "separated by commas"), list: "words" },
      field("optimizer.learning_rate", "Learning rate"),
      field("optimizer.max_grad_norm", "Gradient clip"),
      field("optimizer.weight_decay", "Weight decay"),
      field("optimizer.beta1", "Beta 1"),
      field("optimizer.beta2", "Beta 2"),
      field("ema.decay", "Moving average"),
      field("ema.every_num_optimizer_steps", "Averaged every", "optimizer steps"),
    ],
  },
  {
    id: "lanes",
    title: "Lanes",
    intro:
      "A lane is one GPU, or one CPU slot. Placed colocated or by the planner, rollout and trainer lanes are counted together.",
    fields: [
      field("lanes.pool", "Pool"),
      field("lanes.num_rollout", "Rollout lanes"),
      field("lanes.num_trainer", "Trainer lanes"),
      field("lanes.num_reward", "Reward lanes"),
      field("lanes.rewards_on", "Rewards on"),
    ],
  },
  {
    id: "queue",
    title: "Queue and elastic lanes",
    intro: "Where the run stands in the queue, and how far the pool may shrink and grow it while it works.",
    fields: [
      field("priority", "Priority"),
      { ...field("elastic.min_rollout", "Fewest rollout lanes"), empty: "as asked" },
      { ...field("elastic.max_rollout", "Most rollout lanes"), empty: "as asked" },
      { ...field("elastic.min_trainer", "Fewest trainer lanes"), empty: "as asked" },
      { ...field("elastic.max_trainer", "Most trainer lanes"), empty: "as asked" },
      { ...field("elastic.min_reward", "Fewest reward lanes"), empty: "as asked" },
      { ...field("elastic.max_reward", "Most reward lanes"), empty: "as asked" },
    ],
  },
  {
    id: "memory",
    title: "Trainer memory",
    intro:
      "What DeepSpeed shards over the trainer lanes and what lies in host memory. It changes speed and memory, not the result.",
    fields: [
      field("deepspeed.config", "DeepSpeed"),
      { ...field("deepspeed.gradient_checkpointing", "Recomputed blocks", "every n-th"), empty: "as few as fit" },
      field("deepspeed.offload_idle_states", "Idle state to host memory"),
      field("deepspeed.initialize_model_on_cpu", "Shard weights in host memory"),
      { ...field("deepspeed.overrides", "Overrides", "one a line"), list: "lines" },
    ],
  },
  {
    id: "pipeline",
    title: "Pipeline",
    intro: "How the lanes work together. At staleness 0 none of this changes the result, only how long it takes.",
    fields: [
      field("pipeline.placement", "Placement"),
      field("pipeline.gap", "Train while generating"),
      field("pipeline.tsp", "Spread denoising steps"),
      field("pipeline.tag", "Lend trainer lanes"),
      field("pipeline.max_staleness", "Staleness allowed", "versions"),
      field("pipeline.stale_clip", "Clip stale samples around"),
      { ...field("pipeline.importance_cap", "Cap on their weight"), empty: "2" },
      field("pipeline.publishing", "New versions"),
      field("pipeline.deterministic", "Bitwise reproducible"),
    ],
  },
  {
    id: "performance",
    title: "Kernels",
    intro:
      "How the transformer is computed, in rollout and training alike. What a kernel changes in the policy, the replay gate shows.",
    fields: [
      field("performance.compilation", "Compiled blocks"),
      field("performance.attention", "Attention kernel"),
      field("performance.context_parallel", "Lanes of several GPUs"),
    ],
  },
  {
    id: "evaluation",
    title: "Evaluation",
    intro: "How often the run is evaluated, and on what; how many samples are kept, and where else they are shown.",
    fields: [
      { ...field("evaluation.every_num_batches", "Evaluate every", "batches"), empty: "only at start and end" },
      field("evaluation.num_samples_per_prompt", "Held-out samples a prompt"),
      { ...field("evaluation.prompts", "Held-out prompts", "one a line"), list: "lines" },
      field("stored_samples.num_per_batch", "Training samples stored", "a batch"),
      { ...field("mirrors", "Mirrors", "names"), list: "words" },
    ],
  },
  {
    id: "checkpoint",
    title: "Checkpoints",
    intro: "How often the run is saved, and how often it is tried again.",
    fields: [
      { ...field("checkpoint.every_num_batches", "Checkpoint every", "batches"), empty: "only at the end" },
      field("checkpoint.num_kept", "Checkpoints kept"),
      field("max_attempts", "Attempts"),
    ],
  },
  {
    id: "gate",
    title: "Replay gate",
    intro: "Sampling and training must agree on the policy, or the run fails on its first update.",
    fields: [
      field("replay_gate.max_mean_error", "Largest mean error"),
      field("replay_gate.max_rms_error", "RMS mean error"),
      field("replay_gate.max_quantile_error", "Mean error of 999 in 1000"),
      field("replay_gate.max_ratio_error", "Ratio error bound"),
    ],
  },
];

/** The base model: its path, then what it is. */
export const MODEL_FIELDS = [
  field("base_model.path", "Model"),
  field("base_model.family", "Family"),
  field("base_model.dtype", "Precision"),
] as const;

/** The section of prompts, and where they come from: one of its two fields. */
export const PROMPTS = { section: "prompts", inline: "prompts.inline", set: "prompts.prompt_set" } as const;

export const MIXING = field("reward_mixing", "Mixing");

/** The settings that every reward has beside name, weight and whether it is trained on. */
export const REWARD_FIELDS: readonly { readonly key: string; readonly label: string; readonly unit?: string }[] = [
  { key: "label", label: "Label" },
  { key: "required", label: "Required" },
  { key: "timeout_seconds", label: "Time-out", unit: "s" },
  { key: "num_retries", label: "Retries" },
];

/** Every field that the form asks for; `rewards` and the settings of the algorithm stand for what they hold. */
export const FORM_PATHS: readonly string[] = [
  ...MODEL_FIELDS.map(({ path }) => path),
  PROMPTS.inline,
  PROMPTS.set,
  "rewards",
  MIXING.path,
  ...GROUPS.flatMap((group) => [...(group.variants ? [group.variants] : []), ...group.fields.map(({ path }) => path)]),
];

const SECTION_ORDER = [
  "base_model",
  "prompts",
  "rewards",
  "reward_mixing",
  "algorithm",
  "num_batches",
  "seed",
  "batch",
  "sampling",
  "tuning",
  "lora",
  "optimizer",
  "ema",
  "pipeline",
  "lanes",
  "deepspeed",
  "performance",
  "evaluation",
  "stored_samples",
  "mirrors",
  "checkpoint",
  "replay_gate",
];

const FIELD_ORDER = [
  ...SECTION_ORDER,
  ...MODEL_FIELDS.map(({ path }) => path),
  ...GROUPS.flatMap((group) => group.fields.map(({ path }) => path)),
];

/** Label and unit of settings that their key alone does not name well. */
const LABELS: Readonly<Record<string, readonly [label: string, unit?: string]>> = {
  advantage_std: ["Advantage spread"],
  kl_coefficient: ["KL coefficient"],
  window_size: ["Window", "denoising steps"],
  position: ["Window position"],
  strategy: ["Window moves"],
  shift_every_num_batches: ["Window moves every", "batches"],
  stride: ["Window moves by", "denoising steps"],
  num_noise_levels: ["Noise levels"],
  num_preferences: ["Preferences", "a group"],
  old_decay_rate: ["Old adapter: rate"],
  old_decay_cap: ["Old adapter: cap"],
  old_decay_hold: ["Old adapter: hold", "optimizer steps"],
  num_late_steps: ["Late steps", "denoising steps"],
  num_gradient_steps: ["Gradient through", "denoising steps"],
};

/** The field of a setting that no group lists. */
export function settingField(section: string, key: string): FieldSpec {
  const words = key.replace(/(^|_)num_/g, "$1").replaceAll("_", " ");
  const [label, unit] = LABELS[key] ?? [words.charAt(0).toUpperCase() + words.slice(1)];
  return field(`${section}.${key}`, label, unit);
}

const LISTED: ReadonlyMap<string, string> = new Map(
  [...MODEL_FIELDS, MIXING, ...GROUPS.flatMap((group) => group.fields)].map(({ path, label }) => [path, label]),
);

/** What the form calls the setting at a path: the label of its input; empty for a section, which has none. */
export function labelOf(path: string): string {
  const listed = LISTED.get(path);
  if (listed !== undefined) return listed;
  if (path.startsWith(`${PROMPTS.section}.`)) return "Prompts";
  const [, section, key = ""] = /^(rewards\.\d+(?:\.settings)?|algorithm)\.(\w+)$/.exec(path) ?? [];
  if (section === undefined) return "";
  const reward = section === "algorithm" ? undefined : REWARD_FIELDS.find((one) => one.key === key);
  return reward?.label ?? settingField(section, key).label;
}

/** Keys of a spec's section (or of the spec itself) in the form's order: PostgreSQL's `jsonb` keeps none. */
export function inFormOrder(section: string, keys: readonly string[]): string[] {
  const rank = (key: string) => {
    const index = FIELD_ORDER.indexOf(section ? `${section}.${key}` : key);
    return index < 0 ? FIELD_ORDER.length : index;
  };
  return [...keys].sort((a, b) => rank(a) - rank(b));
}
