/** The steps of the form: which settings everybody sees in each, and which groups of `fields.ts` hold the rest. Pure. */

import { type FieldSpec, GROUPS, type GroupSpec, MIXING, MODEL_FIELDS, PROMPTS } from "./fields.ts";

export type StepId = "model" | "prompts" | "rewards" | "budget" | "advanced";

export interface StepSpec {
  readonly id: StepId;
  readonly title: string;
  readonly intro: string;
  /** Paths of the settings that are always shown. */
  readonly essential: readonly string[];
  /** The groups whose other settings are shown when they are asked for. */
  readonly groups: readonly string[];
}

export const STEPS: readonly StepSpec[] = [
  {
    id: "model",
    title: "Model",
    intro: "What is trained, and how pictures or clips are sampled from it.",
    essential: [
      "tuning",
      "lora.rank",
      "optimizer.learning_rate",
      "sampling.height",
      "sampling.width",
      "sampling.num_frames",
      "sampling.num_denoising_steps",
      "sampling.guidance_scale",
    ],
    groups: ["sampling", "tuning"],
  },
  {
    id: "prompts",
    title: "Prompts",
    intro: "What the model is asked for in training, and what it is evaluated on.",
    essential: ["evaluation.every_num_batches", "evaluation.prompts"],
    groups: ["evaluation"],
  },
  {
    id: "rewards",
    title: "Rewards",
    intro: "What is scored, and how the policy learns from the scores.",
    essential: ["algorithm.name"],
    groups: ["algorithm"],
  },
  {
    id: "budget",
    title: "Budget",
    intro: "How much is generated and trained on, and on which lanes.",
    essential: [
      "num_batches",
      "batch.num_prompts_per_batch",
      "batch.group_size",
      "lanes.pool",
      "lanes.num_rollout",
      "lanes.num_trainer",
      "lanes.num_reward",
      "priority",
    ],
    groups: ["batch", "lanes", "queue", "checkpoint"],
  },
  {
    id: "advanced",
    title: "Advanced",
    intro: "How lanes work together, memory, kernels and checks. Presets and the planner choose these well.",
    essential: ["pipeline.placement", "pipeline.gap", "pipeline.tsp", "pipeline.tag", "pipeline.max_staleness", "seed"],
    groups: ["pipeline", "memory", "performance", "gate"],
  },
];

export const FIELDS: ReadonlyMap<string, FieldSpec> = new Map(
  [...MODEL_FIELDS, MIXING, ...GROUPS.flatMap((group) => group.fields)].map((field) => [field.path, field]),
);

export function stepById(id: StepId): StepSpec {
  return STEPS.find((step) => step.id === id) ?? (STEPS[0] as StepSpec);
}

/** The settings that a step always shows. */
export function essentialFields(step: StepSpec): FieldSpec[] {
  return step.essential.flatMap((path) => FIELDS.get(path) ?? []);
}

/** A step's groups with what is shown only when asked for; groups without any are left out. */
export function otherGroups(step: StepSpec): GroupSpec[] {
  const isShown = new Set(STEPS.flatMap((one) => one.essential));
  return GROUPS.filter((group) => step.groups.includes(group.id))
    .map((group) => ({ ...group, fields: group.fields.filter((field) => !isShown.has(field.path)) }))
    .filter((group) => group.fields.length > 0 || group.variants !== undefined);
}

const OWN_SECTIONS: Readonly<Record<string, StepId>> = {
  base_model: "model",
  [PROMPTS.section]: "prompts",
  rewards: "rewards",
  [MIXING.path]: "rewards",
};

/** The step in which a path of the spec is set; an error may be at a section that no input shows. */
export function stepOf(path: string): StepId {
  const [section = ""] = path.split(".");
  const own = OWN_SECTIONS[section];
  if (own) return own;
  const exact = STEPS.find((step) => step.essential.includes(path));
  if (exact) return exact.id;
  const near = (group: GroupSpec) => group.fields.some((field) => field.path === path) || group.variants === section;
  const group =
    GROUPS.find(near) ?? GROUPS.find(({ fields }) => fields.some((field) => field.path.startsWith(`${section}.`)));
  return STEPS.find((step) => group && step.groups.includes(group.id))?.id ?? "advanced";
}

/** Whether the input of a path is among those that are shown only when asked for. */
export function isOther(path: string): boolean {
  return otherGroups(stepById(stepOf(path))).some(
    (group) =>
      group.fields.some((field) => field.path === path) ||
      (group.variants !== undefined && path.startsWith(`${group.variants}.`) && !FIELDS.has(path)),
  );
}
