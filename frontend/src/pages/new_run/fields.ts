/** The form's groups and fields, laid by hand over the sections of `RunSpec`: label, unit, one line of help. */

export type FieldKind =
  | { readonly kind: "integer" | "number"; readonly min?: number; readonly step?: number | "any"; readonly optional?: string }
  | { readonly kind: "text" }
  | { readonly kind: "choice"; readonly choices: readonly (string | number)[] }
  | { readonly kind: "switch" }
  | { readonly kind: "lines"; readonly rows: number }
  | { readonly kind: "words" };

export interface FieldSpec {
  readonly path: string;
  readonly label: string;
  readonly help: string;
  readonly unit?: string;
  readonly input: FieldKind;
}

export interface GroupSpec {
  readonly id: string;
  readonly title: string;
  readonly intro: string;
  readonly fields: readonly FieldSpec[];
  /** Folded away until asked for: settings that presets already choose well. */
  readonly advanced?: boolean;
}

const count = (path: string, label: string, help: string, unit = ""): FieldSpec => ({
  path, label, help, unit, input: { kind: "integer", min: 1, step: 1 },
});
const real = (path: string, label: string, help: string, unit = ""): FieldSpec => ({
  path, label, help, unit, input: { kind: "number", step: "any" },
});

export const GROUPS: readonly GroupSpec[] = [
  {
    id: "algorithm", title: "Algorithm", intro: "Flow-GRPO: clipped policy gradient on stochastic denoising steps.",
    fields: [
      { ...count("num_batches", "Length", "Each batch ends with one new policy version.", "batches") },
      real("algorithm.clip_range", "Clip range", "How far the ratio may move from 1 before its gradient is cut."),
      { path: "algorithm.advantage_std", label: "Advantage spread", help: "group lets a group train as soon as it is scored; batch waits for all.", input: { kind: "choice", choices: ["group", "batch"] } },
      real("algorithm.advantage_clip", "Advantage clip", "Bound on the size of an advantage."),
      real("algorithm.kl_coefficient", "KL coefficient", "Pull towards the base model; 0 is off."),
      { path: "seed", label: "Seed", help: "Noise depends on it, the batch, the prompt and the member only.", input: { kind: "integer", min: 0, step: 1 } },
    ],
  },
  {
    id: "batch", title: "Batch", intro: "Prompts become groups, groups are scored against each other, mini-batches close with an optimizer step.",
    fields: [
      count("batch.num_prompts_per_batch", "Prompts a batch", "Each prompt is one group."),
      count("batch.group_size", "Group size", "Trajectories of one prompt; their rewards are compared.", "trajectories"),
      count("batch.num_minibatches", "Mini-batches", "Must divide the prompts of a batch."),
      count("batch.num_epochs_per_batch", "Epochs a batch", "How often each batch is gone through."),
      count("batch.micro_batch_size", "Micro-batch", "What one forward and backward pass holds.", "pairs"),
      { path: "batch.fragment_size", label: "Fragment", help: "Trajectories a lane generates at once; must divide the group size.", unit: "trajectories", input: { kind: "integer", min: 1, step: 1, optional: "the whole group" } },
    ],
  },
  {
    id: "sampling", title: "Sampling", intro: "How pictures are drawn while learning and while judging.",
    fields: [
      count("sampling.num_denoising_steps", "Denoising steps", "For training samples."),
      count("sampling.num_eval_denoising_steps", "Evaluation steps", "For held-out samples, without noise."),
      { path: "sampling.height", label: "Height", help: "A multiple of 8.", unit: "px", input: { kind: "integer", min: 16, step: 8 } },
      { path: "sampling.width", label: "Width", help: "A multiple of 8.", unit: "px", input: { kind: "integer", min: 16, step: 8 } },
      real("sampling.guidance_scale", "Guidance", "1 is none."),
      { path: "sampling.sde_type", label: "Kernel", help: "flow: Flow-GRPO's SDE; cps: coefficient preserving.", input: { kind: "choice", choices: ["flow", "cps"] } },
      real("sampling.noise_level", "Noise level", "Exploration added at each stochastic step."),
      { path: "sampling.sde_start", label: "First stochastic step", help: "Steps before it are deterministic.", input: { kind: "integer", min: 0, step: 1 } },
      { path: "sampling.num_sde_steps", label: "Stochastic steps", help: "Only these are trained on.", input: { kind: "integer", min: 1, step: 1, optional: "all but the last" } },
    ],
  },
  {
    id: "lora", title: "LoRA and optimizer", intro: "What is learnt, and how fast.",
    fields: [
      count("lora.rank", "Rank", "Size of the adapter."),
      real("lora.alpha", "Alpha", "Scale of the adapter, divided by the rank."),
      { path: "lora.targets", label: "Target modules", help: "Name endings, separated by commas; empty: the family's own.", input: { kind: "words" } },
      real("optimizer.learning_rate", "Learning rate", "AdamW."),
      real("optimizer.max_grad_norm", "Gradient clip", "Norm above which gradients are scaled down."),
      real("optimizer.weight_decay", "Weight decay", "AdamW."),
      real("optimizer.beta1", "Beta 1", "AdamW."),
      real("optimizer.beta2", "Beta 2", "AdamW."),
    ],
  },
  {
    id: "lanes", title: "Lanes and pipeline", intro: "A lane is one GPU, or one CPU slot. At staleness 0 none of this changes what is learnt.",
    fields: [
      count("lanes.num_rollout", "Rollout lanes", "Generate pictures."),
      count("lanes.num_trainer", "Trainer lanes", "Train; one optimizer over all of them."),
      count("lanes.num_reward", "Reward lanes", "Score pictures."),
      { path: "pipeline.gap", label: "Train while generating", help: "Complete groups train while others still generate.", input: { kind: "switch" } },
      { path: "pipeline.deterministic", label: "Bitwise reproducible", help: "Gradients add up in index order; costs some waiting.", input: { kind: "switch" } },
      { path: "deepspeed.zero_stage", label: "ZeRO stage", help: "What trainer lanes shard: 0 nothing, 1 optimizer, 2 gradients too.", input: { kind: "choice", choices: [0, 1, 2] } },
    ],
  },
  {
    id: "cadence", title: "Evaluation and checkpoints", intro: "How often the run is judged and made safe.",
    fields: [
      { path: "evaluation.every_num_batches", label: "Evaluate every", help: "On held-out seeds.", unit: "batches", input: { kind: "integer", min: 1, step: 1, optional: "only at start and end" } },
      count("evaluation.num_samples_per_prompt", "Held-out samples a prompt", "More give a steadier number."),
      { path: "evaluation.prompts", label: "Held-out prompts", help: "One a line; empty: the training prompts.", input: { kind: "lines", rows: 3 } },
      { path: "checkpoint.every_num_batches", label: "Checkpoint every", help: "A lost run resumes from the newest.", unit: "batches", input: { kind: "integer", min: 1, step: 1, optional: "only at the end" } },
      count("checkpoint.num_kept", "Checkpoints kept", "Older ones are deleted."),
      count("max_attempts", "Attempts", "How often a lost run is resumed before it fails."),
    ],
  },
  {
    id: "gate", title: "Replay gate", advanced: true, intro: "Sampling and training must agree on the policy, or the run fails on its first update.",
    fields: [
      real("replay_gate.max_mean_error", "Mean error bound", "max |μ replayed − μ sampled| over std."),
      real("replay_gate.max_ratio_error", "Ratio error bound", "max |ratio − 1| on fresh data."),
    ],
  },
];

const SECTION_ORDER = [
  "base_model", "prompts", "rewards", "algorithm", "batch", "sampling", "lora", "optimizer", "pipeline", "lanes",
  "deepspeed", "evaluation", "checkpoint", "replay_gate",
];

const FIELD_ORDER = [
  ...SECTION_ORDER, "base_model.path", "base_model.family", ...GROUPS.flatMap((group) => group.fields.map((field) => field.path)),
];

/** Keys of a spec's section (or of the spec itself) in the form's order: the database keeps none. */
export function inFormOrder(section: string, keys: readonly string[]): string[] {
  const rank = (key: string) => {
    const index = FIELD_ORDER.indexOf(section ? `${section}.${key}` : key);
    return index < 0 ? FIELD_ORDER.length : index;
  };
  return [...keys].sort((a, b) => rank(a) - rank(b));
}

export const REWARDS: readonly { readonly name: string; readonly help: string }[] = [
  { name: "shape_match", help: "Colour purity × overlap with the ideal shape, 0 to 1." },
  { name: "shape_judge", help: "1 when an independent judge finds colour and shape right." },
  { name: "jpeg_compressibility", help: "Higher for pictures that compress well." },
  { name: "colorfulness", help: "Higher for vivid pictures." },
];
