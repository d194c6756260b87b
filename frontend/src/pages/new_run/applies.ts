/** Which settings mean nothing beside others: they are greyed out with a word why, and put at the value that the
 * server accepts there, so that no error can stand at a field that nobody can edit. */

import { getPath, type Json, type JsonObject, sameJson, setPath } from "../../base/paths.ts";

interface Rule {
  readonly path: string;
  /** Empty where the field applies. */
  readonly why: (spec: JsonObject) => string;
  /** What the field must hold where it does not apply; undefined: anything. */
  readonly neutral?: Json;
}

const isPlaced = (spec: JsonObject, placement: string) => getPath(spec, "pipeline.placement") === placement;
const whenColocated = (why: string) => (spec: JsonObject) => (isPlaced(spec, "colocated") ? why : "");

function whyNoSwitch(colocated: string): (spec: JsonObject) => string {
  return (spec) => whenColocated(colocated)(spec) || (isPlaced(spec, "auto") ? "The planner chooses it." : "");
}

const algorithmOf = (spec: JsonObject) => String(getPath(spec, "algorithm.name") ?? "flow_grpo");

/** Their ratio may be cut at a cap; the others weigh no sample by one, or centre it. */
const WEIGHED_BY_RATIO = new Set(["flow_grpo", "flow_grpo_fast", "mix_grpo", "dance_grpo"]);
const WITHOUT_NOISE = new Set(["diffusion_nft", "diffusion_dpo", "refl", "reward_flow"]);

const whenWithoutNoise = (spec: JsonObject) =>
  WITHOUT_NOISE.has(algorithmOf(spec)) ? "This algorithm draws its samples without noise on the way." : "";

function whyNoCap(spec: JsonObject): string {
  if (!WEIGHED_BY_RATIO.has(algorithmOf(spec))) return "This algorithm weighs no sample by a ratio that could be cut.";
  return Number(getPath(spec, "pipeline.max_staleness") ?? 0) === 0 ? "No sample is stale at staleness 0." : "";
}

const familyOf = (spec: JsonObject) => String(getPath(spec, "base_model.family") ?? "flux");

const MAKES_CLIPS = new Set(["wan", "wan22", "hunyuan_video"]);
const WITH_TWO_EXPERTS = new Set(["wan22"]);
const WITH_EMBEDDED_GUIDANCE = new Set(["flux", "flux2", "hunyuan_video"]);
/** Their pipelines know no negative prompt, with guidance from two predictions (klein) or without. */
const WITHOUT_NEGATIVE_PROMPT = new Set([...WITH_EMBEDDED_GUIDANCE, "flux2_klein"]);

const whenFamily = (families: ReadonlySet<string>, why: string) => (spec: JsonObject) =>
  families.has(familyOf(spec)) ? why : "";

const whenFull = (spec: JsonObject) =>
  getPath(spec, "tuning") === "full" ? "All weights are trained: there is no LoRA." : "";

/** Diffusers neither compiles their transformer nor lets it choose its attention. */
const WITHOUT_KERNEL_CHOICE = new Set(["sd3"]);
const whenWithoutKernels = whenFamily(WITHOUT_KERNEL_CHOICE, "The transformer of this model family offers no choice.");

const RULES: readonly Rule[] = [
  { path: "performance.compilation", neutral: "off", why: whenWithoutKernels },
  { path: "performance.attention", neutral: "default", why: whenWithoutKernels },
  {
    path: "deepspeed.initialize_model_on_cpu",
    why: (spec) =>
      String(getPath(spec, "deepspeed.config") ?? "").startsWith("zero3") ? "" : "No weights are cut: that is ZeRO 3.",
  },
  {
    path: "ema.every_num_optimizer_steps",
    why: (spec) => (Number(getPath(spec, "ema.decay") ?? 0) === 0 ? "There is no average." : ""),
  },
  { path: "lora.rank", why: whenFull },
  { path: "lora.alpha", why: whenFull },
  { path: "lora.targets", why: whenFull },
  {
    path: "sampling.guidance_scale_2",
    neutral: null,
    why: (spec) => (WITH_TWO_EXPERTS.has(familyOf(spec)) ? "" : "This model family has no expert for low noise."),
  },
  {
    path: "sampling.num_frames",
    neutral: 1,
    why: (spec) => (MAKES_CLIPS.has(familyOf(spec)) ? "" : "This model family makes pictures, not clips."),
  },
  {
    path: "sampling.negative_prompt",
    neutral: "",
    why: whenFamily(WITHOUT_NEGATIVE_PROMPT, "The pipeline of this model family takes none."),
  },
  {
    path: "sampling.batched_cfg",
    why: whenFamily(WITH_EMBEDDED_GUIDANCE, "Guidance is an input of this model: one pass it is."),
  },
  {
    path: "sampling.sde_type",
    neutral: "dance",
    why: (spec) => (algorithmOf(spec) === "dance_grpo" ? "DanceGRPO has an SDE of its own." : ""),
  },
  { path: "sampling.sde_type", why: whenWithoutNoise },
  { path: "sampling.noise_level", why: whenWithoutNoise },
  { path: "sampling.sde_start", why: whenWithoutNoise },
  { path: "sampling.num_sde_steps", why: whenWithoutNoise },
  { path: "replay_gate.max_mean_error", why: whenWithoutNoise },
  { path: "replay_gate.max_ratio_error", why: whenWithoutNoise },
  {
    path: "sampling.fps",
    why: (spec) => (Number(getPath(spec, "sampling.num_frames") ?? 1) === 1 ? "One frame is a picture." : ""),
  },
  { path: "pipeline.gap", why: whyNoSwitch("Colocated lanes all generate first, then all train.") },
  { path: "pipeline.tsp", why: whyNoSwitch("") },
  { path: "pipeline.tag", why: whyNoSwitch("Colocated lanes all generate anyway."), neutral: "off" },
  {
    path: "pipeline.max_staleness",
    neutral: 0,
    why: whenColocated("Lanes that train cannot generate the next batch meanwhile."),
  },
  { path: "pipeline.importance_cap", neutral: null, why: whyNoCap },
];

/** Why the field at `path` does not apply to `spec`, in a sentence; empty where it does. */
export function whyNot(path: string, spec: JsonObject): string {
  return (
    RULES.filter((rule) => rule.path === path)
      .map((rule) => rule.why(spec))
      .find((why) => why !== "") ?? ""
  );
}

/** `spec` with every field that does not apply at a value the server accepts; later rules see what earlier ones set. */
export function settled(spec: JsonObject): JsonObject {
  return RULES.reduce((current, { path, why, neutral }) => {
    if (neutral === undefined || !why(current) || sameJson(getPath(current, path) ?? neutral, neutral)) return current;
    return setPath(current, path, neutral);
  }, spec);
}
